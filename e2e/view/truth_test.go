// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// odd returns lines with levels between the named ones and values that need
// care in a query.
func odd() string {
	var b strings.Builder
	for i, level := range []string{"trace-2", "debug", "debug+1", "info", "info", "notice", "warn", "error", "error+1", "panic", "fatal"} {
		fmt.Fprintf(&b, `{"time":"2026-11-22T09:00:%02dZ","level":%q,"message":"m","msg":"other","zip":%s,"a-b":%s}`+"\n",
			i, level, []string{`"007"`, `"7"`, `7`}[i%3], []string{`1.50`, `1.5`, `"say \"'C:\\new\n` + "`" + `"`, `""`}[i%4])
	}
	return b.String() + `{"message":"m","msg":"other"}` + "\n"
}

// A click on a level or a value selects as many lines as are shown beside it.
func TestE2ECountsAreThoseOfTheSelection(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, odd()))
	x := open(t, address, 1400, 860, false)
	x.lines(12)
	for _, list := range []struct {
		buttons, count string
		want           int
	}{
		{".legend button", "b", 7},
		{".facets .value", ".n", 8},
	} {
		all := fmt.Sprintf("[...document.querySelectorAll('%s')]", list.buttons)
		for i := range list.want {
			becomes(x, all+".length", float64(list.want))
			one := fmt.Sprintf("%s[%d]", all, i)
			want := eval[string](x, one+".querySelector('"+list.count+"').textContent")
			x.run(chromedp.Evaluate[chromedp.Void](one + ".click()"))
			becomes(x, "document.querySelector('.progress.done') && document.querySelector('#q').value !== '' ? document.querySelector('.summary b').textContent : ''", want)
			x.key("\x1b")
			x.lines(12)
		}
	}
	x.clean(address)
}

// Lines that are too long for one answer are shown, too.
func TestE2ELongLines(t *testing.T) {
	needBrowser(t)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"message":"line %d","text":"%s"}`+"\n", i, strings.Repeat("x", 400_000))
	}
	address := serve(t, write(t, b.String()))
	x := open(t, address, 800, 600, false)
	x.lines(40)
	becomes(x, "[...document.querySelectorAll('.row')].at(-1)?.querySelector('.message')?.textContent", "line 39")
	x.clean(address)
}

// interrupt makes requests for rows fail until failing is false, and drops the
// event that the file was truncated.
const interrupt = `(() => {
  const listen = EventSource.prototype.addEventListener, fetched = window.fetch;
  EventSource.prototype.addEventListener = function (name, f) {
    window.source = this;
    if (name !== 'ended') listen.call(this, name, f);
  };
  window.failing = true;
  window.fetch = (url, options) => failing && url.includes('api/rows?') ? Promise.reject(new TypeError('failed')) : fetched(url, options);
})()`

// After an interruption, the page requests what it lacks, and notices that it
// has another file.
func TestE2EAnInterruption(t *testing.T) {
	needBrowser(t)
	file := write(t, shop(10))
	address := serve(t, file)
	x := open(t, address, 800, 600, false)
	x.lines(10)
	x.run(chromedp.Evaluate[chromedp.Void](interrupt))
	x.query("exists time", 10)
	becomes(x, "document.querySelector('.banner.bad') !== null", true)
	x.run(chromedp.Evaluate[chromedp.Void]("failing = false; source.onerror(); source.onopen()"))
	becomes(x, "document.querySelectorAll('.row .message').length", 10)
	becomes(x, "document.querySelector('.banner')?.textContent", "")
	if err := os.WriteFile(file, []byte(shop(3)), 0o600); err != nil {
		t.Fatal(err)
	}
	x.lines(3)
	becomes(x, "document.querySelectorAll('.row .message').length", 3)
	x.clean(address)
}

// counted keeps the number of new rows that the newest bars count.
const counted = `(() => {
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (name, f) {
    listen.call(this, name, e => {
      f(e);
      const s = JSON.parse(e.data);
      if (s.counts) requestAnimationFrame(() => (window.counted = s.high));
    });
  };
})()`

// The mouse selects the range that it has shown, although new lines have
// changed the bars since.
func TestE2ENewLinesWhileARangeIsSelected(t *testing.T) {
	needBrowser(t)
	file := write(t, shop(500))
	address := serve(t, file)
	x := open(t, address, 1400, 860, false)
	x.lines(500)
	x.run(chromedp.Evaluate[chromedp.Void](counted))
	x.query("exists time", 500)
	becomes(x, axis+" !== ''", true)
	box := eval[[]float64](x, "(r => [r.left, r.top, r.width])(document.querySelector('.plot').getBoundingClientRect())")
	at := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: box[0] + box[2]/2, Y: box[1] + 30}
	call(x, input.DispatchMouseEvent, at)
	becomes(x, "document.querySelector('.label').textContent !== ''", true)
	from := eval[string](x, "document.querySelector('.label').textContent.slice(0, 19)")
	at.Button, at.ClickCount = input.MouseButtonLeft, 1
	at.Type = input.DispatchMouseEventTypeMousePressed
	call(x, input.DispatchMouseEvent, at)
	appendTo(t, file, `{"time":"2026-11-24T12:00:00Z","message":"later"}`+"\n")
	becomes(x, "counted", 1)
	at.Type = input.DispatchMouseEventTypeMouseReleased
	call(x, input.DispatchMouseEvent, at)
	becomes(x, "document.querySelector('.chip')?.textContent.trim().slice(0, 19)", from)
	x.clean(address)
}

// A screen reader finds the lines, the selected one of them, and the number of
// lines once they are counted. Lines of before are not new.
func TestE2ERoles(t *testing.T) {
	needBrowser(t)
	file := write(t, shop(10))
	address := serve(t, file)
	x := open(t, address, 800, 600, false)
	x.lines(10)
	appendTo(t, file, shop(5))
	x.lines(15)
	x.run(chromedp.Navigate(address+"?line=0"), chromedp.WaitVisible(".detail .message"))
	x.lines(15)
	becomes(x, "document.querySelector('.live').textContent.trim()", "Paused")
	becomes(x, "document.querySelector('[role=status]')?.textContent", "15 lines")
	const active = "document.getElementById(document.querySelector('[role=listbox]').getAttribute('aria-activedescendant'))"
	becomes(x, active+"?.matches('[role=option][aria-selected=true][aria-posinset=\"1\"][aria-setsize=\"15\"]')", true)

	// Keys scroll the pane that has the focus.
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.detail .close').focus()"))
	x.key(kb.ArrowDown)
	becomes(x, active+"?.ariaPosInSet", "1")
	x.key("j")
	becomes(x, active+"?.ariaPosInSet", "2")
	x.clean(address)
}
