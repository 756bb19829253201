// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hold delays the answers to requests whose address contains a text until
// letGo is called in the page. The server has answered by then.
const hold = `((part) => {
  const fetched = window.fetch; let open; const gate = new Promise(r => (open = r));
  window.held = 0;
  window.letGo = () => { window.fetch = fetched; open(); };
  window.fetch = async (url, options) => {
    const answer = await fetched(url, options);
    if (url.includes(part)) { held++; await gate; }
    return answer;
  };
})(%q)`

// holdStatus delays all but the first status of the next stream, in which the
// index has the last 50 lines only.
const holdStatus = `(() => {
  const listen = EventSource.prototype.addEventListener; let open; const gate = new Promise(r => (open = r));
  let first = true;
  window.letGo = () => { EventSource.prototype.addEventListener = listen; open(); };
  EventSource.prototype.addEventListener = function (name, f) {
    listen.call(this, name, name !== 'status' ? f : async e => {
      if (!first) { await gate; return f(e); }
      first = false;
      const { low, ...rest } = JSON.parse(e.data);
      f({ data: JSON.stringify({ ...rest, low: -50, done: false }) });
      await gate;
      f(e);
    });
  };
})()`

// lastStatus keeps when the next stream has sent a status last.
const lastStatus = `(() => {
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (name, f) {
    listen.call(this, name, e => { window.last = performance.now(); f(e); });
  };
})()`

func (x *tab) hold(part string) {
	x.Helper()
	x.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(hold, part)))
}

// holdBodies lets answers with rows begin and never end, unless they are
// aborted.
const holdBodies = `(() => {
  const fetched = window.fetch;
  window.held = 0;
  window.letGo = () => (window.fetch = fetched);
  window.fetch = async (url, options) => {
    const answer = await fetched(url, options);
    if (!url.includes('api/rows?')) return answer;
    held++;
    const stopped = options.signal;
    return new Response(new ReadableStream({ start(c) { stopped.addEventListener('abort', () => c.error(stopped.reason)); } }), answer);
  };
})()`

func (x *tab) letGo() {
	x.Helper()
	x.run(chromedp.Evaluate[chromedp.Void]("letGo()"))
}

// openError opens the detail pane of the first error, and returns its row.
func (x *tab) openError() (row string) {
	x.Helper()
	x.key("g", "n")
	becomes(x, "document.querySelector('.row.selected .level')?.textContent", "ERR")
	x.key("\r")
	x.run(chromedp.WaitVisible(".detail .message"))
	return eval[string](x, "document.querySelector('.row.selected').dataset.row")
}

// The row of the open line in a selection that was left is not used.
func TestE2EAnAnswerForAnotherSelection(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, false)
	x.lines(20_000)
	row := x.openError()
	x.hold("api/row?")
	x.run(chromedp.Click(".detail .actions button"))
	x.lines(1)
	becomes(x, "held", 1)
	x.key("c")
	x.lines(20_000)
	x.letGo()
	becomes(x, "document.querySelector('.row.selected')?.dataset.row", row)
	x.clean(address)
}

// The open line is shown although the server has its row in the index before
// the page knows that there are so many.
func TestE2EARowThatThePageDoesNotKnowYet(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, false)
	x.lines(20_000)
	row := x.openError()
	x.run(chromedp.Click(".detail .actions button"))
	x.lines(1)
	x.run(chromedp.Evaluate[chromedp.Void](holdStatus))
	x.key("c")
	becomes(x, "document.querySelector('.row.selected')?.dataset.row", row)
	x.letGo()
	x.lines(20_000)
	becomes(x, "document.querySelector('.row.selected')?.dataset.row", row)
	x.clean(address)
}

// An answer that another selection cuts off is not taken for one of another
// file.
func TestE2EAnAnswerThatIsCutOff(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, false)
	x.lines(20_000)
	x.run(chromedp.Evaluate[chromedp.Void](holdBodies))
	x.key("g")
	becomes(x, "held > 0", true)
	x.letGo()
	x.query("level = error", errors20k)
	becomes(x, "document.querySelectorAll('.row .message').length > 10", true)
	becomes(x, "document.querySelector('.banner')?.textContent", "")
	x.clean(address)
}

// Rows that are written while others of their chunk are requested are shown.
func TestE2ERowsThatCameDuringARequest(t *testing.T) {
	needBrowser(t)
	file := write(t, shop(10))
	address := serve(t, file)
	x := open(t, address, 1400, 860, false)
	x.lines(10)
	x.run(chromedp.Evaluate[chromedp.Void](lastStatus))
	x.query("exists time", 10)
	becomes(x, "document.querySelectorAll('.row .message').length", 10)
	x.hold("api/rows?")
	appendTo(t, file, shop(1))
	x.lines(11)
	becomes(x, "held", 1)
	appendTo(t, file, shop(1))
	x.lines(12)
	becomes(x, "performance.now() - last > 1000", true) // nothing else makes the page ask again
	x.letGo()
	becomes(x, "document.querySelectorAll('.row .message').length", 12)
	x.clean(address)
}

// Enter opens a line that has not arrived yet.
func TestE2EEnterWaitsForTheLine(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, strings.Repeat(shop(10), 100)))
	x := open(t, address, 1400, 860, false)
	x.lines(1000)
	becomes(x, "document.querySelectorAll('.row .message').length > 10", true)
	x.hold("api/rows?")
	x.key("g", "k")
	becomes(x, "held > 0", true)
	becomes(x, "document.querySelector('.row.selected.loading') !== null", true)
	x.key("\r")
	x.letGo()
	becomes(x, "document.querySelector('.detail .message') !== null", true)
	x.clean(address)
}
