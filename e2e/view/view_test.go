// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// begin is when the first line was logged.
var begin = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

const trace = `panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 41 [running]:\nshop/pay.(*Client).Charge(0x0, {0x1400, 0x20})\n\t/src/pay/client.go:88 +0x24\nshop/orders.(*API).place(0x14000116000)\n\t/src/orders/place.go:142 +0x1c8`

// shop returns the log of a shop with a payment service that fails for a while.
func shop(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	at := begin
	for range n {
		at = at.Add(time.Duration(r.ExpFloat64() * float64(3*time.Hour) / float64(n)))
		path := []string{"/api/orders", "/api/orders", "/api/cart", "/api/cart", "/api/products", "/api/products", "/api/pay", "/healthz"}[r.IntN(8)]
		tenant := []string{"acme", "acme", "acme", "globex", "globex", "initech"}[r.IntN(6)]
		level, message, status, took, more := "info", "request served", 200, 4+r.ExpFloat64()*20, ""
		since := at.Sub(begin)
		failing := since > 100*time.Minute && since < 125*time.Minute && path == "/api/pay"
		switch {
		case failing && r.IntN(3) > 0:
			level, message, status, took = "error", "payment failed", 502, 2000+r.Float64()*50
			more = `,"error":"post https://pay.example/charge: context deadline exceeded","stack":"` + trace + `"`
		case r.IntN(25) == 0:
			level, message, took, more = "warn", "slow query", 250+r.ExpFloat64()*200, `,"query":"SELECT * FROM orders WHERE tenant = $1 ORDER BY created_at DESC LIMIT 50","rows":50`
		case r.IntN(120) == 0:
			level, message, status, more = "error", "write response", 499, `,"error":"write tcp 10.0.3.7:8080: broken pipe"`
		case r.IntN(5) == 0:
			level, message, more = "debug", "cache miss", fmt.Sprintf(`,"user":{"id":%d,"plan":"team"}`, r.IntN(900))
		case r.IntN(9) == 0:
			status, message = 404, "not found"
		}
		fmt.Fprintf(&b, `{"time":%q,"level":%q,"message":%q,"method":%q,"path":%q,"status":%d,"took":"%.1fms","tenant":%q,"request_id":"%016x"%s}`+"\n",
			at.Format("2006-01-02T15:04:05.000Z"), level, message, []string{"GET", "POST"}[r.IntN(2)], path, status, took, tenant, r.Uint64(), more)
	}
	return b.String()
}

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "shop.log")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// axis is the text below the histogram.
const axis = "[...document.querySelectorAll('.histogram .axis span')].map(e => e.textContent).join(' ')"

// The pictures in docs.
func TestE2EPictures(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(60_000)))
	for _, dark := range []bool{false, true} {
		for _, width := range []int{1400, 420} {
			name := fmt.Sprintf("%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark])
			x := open(t, address, width, 860, dark)
			x.lines(60_000)
			becomes(x, "document.querySelectorAll('.row .message').length > 10", true)
			becomes(x, "document.querySelectorAll('.histogram .axis span').length > 2", true)
			if width > 1000 { // below, the keys are behind a button
				becomes(x, "document.querySelectorAll('.facets summary').length > 2", true)
			}
			x.fits()
			x.picture(name)
			if width > 1000 { // the time in which payments fail
				becomes(x, axis, "09:06 09:18 09:30 09:42 09:54 10:06 10:18 10:30 10:42 10:54 11:06 11:18 11:30 11:42 11:54") // of all lines
				box := eval[[]float64](x, "(r => [r.left, r.top, r.width])(document.querySelector('.plot').getBoundingClientRect())")
				x.drag(box[0]+box[2]*100/180, box[1]+30, box[0]+box[2]*124/180, box[1]+30)
				becomes(x, "document.querySelector('.chip') !== null && document.querySelector('.progress.done') !== null", true)
				becomes(x, "document.querySelector('.stands .what')?.textContent", "payment failed")
				x.picture(name + "-range")
				x.key("\x1b")
				x.lines(60_000)
			}
			x.query("level >= error and status = 502", 686)
			x.key("n")
			becomes(x, "document.querySelector('.row.selected') !== null", true)
			x.key("\r")
			x.run(chromedp.WaitVisible(".detail .message"))
			x.fits()
			x.picture(name + "-detail")
			x.clean(address)
		}
	}
}

func TestE2EQueriesAndFacets(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, false)
	x.lines(20_000)

	// An invalid query shows where it is wrong.
	x.run(chromedp.SendKeys("#q", "level >= nonsense and x\r"), chromedp.WaitVisible(".failure"))
	becomes(x, "document.querySelector('.failure pre').textContent", "level >= nonsense and x\n         ^ \"nonsense\" is not a level: write trace, debug, info, warn, error, panic or fatal")
	becomes(x, "document.activeElement.id + document.querySelector('#q').selectionStart", "q9")
	x.query("level = error", errors20k)
	becomes(x, "document.querySelector('.failure') === null", true)
	becomes(x, "new URLSearchParams(location.search).get('q')", "level = error")
	becomes(x, "[...document.querySelectorAll('.row .level')].every(e => e.textContent === 'ERR')", true)

	// A value of a key is added to the query, and history takes it out again.
	becomes(x, "[...document.querySelectorAll('.value')].some(e => e.querySelector('.what').textContent === 'initech')", true)
	x.run(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('.value')].find(e => e.querySelector('.what').textContent === 'initech').click()"))
	becomes(x, "document.querySelector('#q').value", `level = error and tenant = "initech"`)
	becomes(x, "[...document.querySelectorAll('.facets summary .name')].map(e => e.textContent).includes('tenant')", true)
	x.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
	becomes(x, "document.querySelector('#q').value", "level = error")
	x.lines(errors20k)

	// The histogram is a range of time.
	becomes(x, axis+" !== ''", true)
	box := eval[[]float64](x, "(r => [r.left, r.top, r.width])(document.querySelector('.plot').getBoundingClientRect())")
	x.drag(box[0]+box[2]*0.5, box[1]+30, box[0]+box[2]*0.75, box[1]+30)
	becomes(x, "document.querySelector('.chip') !== null", true)
	becomes(x, "Number(document.querySelector('.summary b').textContent) > 0 && Number(document.querySelector('.summary b').textContent) < 300", true)
	x.key("\x1b")
	x.lines(errors20k)
	x.clean(address)
}

// The keys show which lines fail, and how long they take.
func TestE2EKeysShowWhereErrorsAre(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, false)
	x.lines(20_000)
	becomes(x, "document.querySelector('.facets details') !== null && document.querySelector('.facets > .none') === null", true) // all lines are counted
	const key = `[...document.querySelectorAll('.facets details')].find(e => e.querySelector('.name').textContent === %q)`
	path := fmt.Sprintf(key, "path")
	becomes(x, "[..."+path+"?.querySelectorAll('.stands .what') ?? []].map(e => e.textContent).join()", "/api/pay")
	becomes(x, "/^\\d+%$/.test("+path+"?.querySelector('.stands .errors')?.textContent)", true)
	took := fmt.Sprintf(key, "took")
	becomes(x, "[..."+took+"?.querySelectorAll('.soft') ?? []].map(e => e.textContent).join()", "p50,p90,p99,max")
	x.run(chromedp.Evaluate[chromedp.Void]("[..." + took + ".querySelectorAll('.value')][2].click()"))
	becomes(x, "/^took >= [\\d.]+ms$/.test(document.querySelector('#q').value)", true)
	becomes(x, "document.querySelector('.progress.done') !== null && (n => n > 150 && n < 250)(Number(document.querySelector('.summary b').textContent))", true)
	const failed = "[...document.querySelectorAll('.value .what')].find(e => e.textContent === 'payment failed')"
	becomes(x, failed+" !== undefined", true)
	x.run(chromedp.Evaluate[chromedp.Void](failed + ".click()"))
	becomes(x, "document.querySelector('#q').value.endsWith(' and message = \"payment failed\"')", true)
	becomes(x, path+"?.querySelector('.only')?.textContent", "/api/pay")
	x.clean(address)
}

// errors20k is the number of errors in shop(20_000).
const errors20k = 383

func TestE2EKeysAlone(t *testing.T) {
	needBrowser(t)
	address := serve(t, write(t, shop(20_000)))
	x := open(t, address, 1400, 860, true)
	x.lines(20_000)
	becomes(x, "getComputedStyle(document.body).backgroundColor", "rgb(15, 19, 24)")
	x.key("g")
	becomes(x, "document.querySelector('.row').dataset.row", "-20000")
	becomes(x, "document.querySelector('.live').textContent.trim()", "Paused")
	const selected = "Number(document.querySelector('.row.selected')?.dataset.row ?? 0)"
	x.key("j")
	becomes(x, selected+" < 0", true)
	row := eval[float64](x, selected)
	x.key("j")
	becomes(x, selected, row+1)
	x.key("k")
	becomes(x, selected, row)
	x.key("n")
	becomes(x, "document.querySelector('.row.selected .level')?.textContent", "ERR")
	x.key("\r")
	x.run(chromedp.WaitVisible(".detail .message"))
	offset := eval[string](x, "new URLSearchParams(location.search).get('line')")
	x.key("n") // the pane follows
	becomes(x, "new URLSearchParams(location.search).get('line') === '"+offset+"' ? '' : document.querySelector('.detail .badge')?.textContent", "error")

	// Only this request, and then its neighbours.
	at := eval[string](x, "new URLSearchParams(location.search).get('line')")
	x.run(chromedp.Click(".detail .actions button"))
	x.lines(1)
	x.key("c")
	x.lines(20_000)
	becomes(x, "document.querySelector('.row.selected .level')?.textContent", "ERR")
	becomes(x, "new URLSearchParams(location.search).get('line')", at)

	// The address alone is enough, too.
	x.run(chromedp.Reload(), chromedp.WaitReady("main"))
	becomes(x, "document.querySelector('.row.selected .level')?.textContent", "ERR")
	x.key("\x1b")
	becomes(x, "document.querySelector('.detail') === null", true)
	x.key("G")
	becomes(x, "document.querySelector('.live').textContent.trim()", "Live")
	becomes(x, "[...document.querySelectorAll('.row')].some(e => e.dataset.row === '-1')", true)
	x.key("N")
	becomes(x, "document.querySelector('.row.selected .level')?.textContent", "ERR")
	x.key("t")
	becomes(x, "getComputedStyle(document.body).backgroundColor", "rgb(255, 255, 255)")
	x.key("/")
	becomes(x, "document.activeElement.id", "q")
	x.key("\x1b")
	x.key("?")
	x.run(chromedp.WaitVisible("dialog.help"))
	x.picture("help")
	x.clean(address)
}

// No content of a line becomes part of the page.
func TestE2EHostileLines(t *testing.T) {
	needBrowser(t)
	const attack = `<img src=x onerror=alert(1)><script>alert(2)</script>'\"><svg onload=alert(3)>{{constructor.constructor('alert(4)')()}}javascript:alert(5)`
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"time":"2026-11-22T09:00:%02dZ","level":"error","message":"%s","%s":"%s","request_id":"%s","o":{"%[2]s":["%[2]s"]},"stack":"a\n%[2]s"}`+"\n", i%60, attack, attack, attack, attack)
	}
	b.WriteString("plain " + strings.ReplaceAll(attack, `\"`, `"`) + "\u202e\x1b[31m\x00\xff\n")
	b.WriteString(`{"level":"<b>x</b>","msg":"` + strings.Repeat("A", 2<<20) + `"}` + "\n")
	file := filepath.Join(t.TempDir(), `<img src=x onerror=alert(6)>.log`)
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serve(t, file)
	x := open(t, address, 1400, 860, false)
	x.lines(52)
	for i := range 3 {
		x.key("N")
		becomes(x, "document.querySelector('.row.selected')?.dataset.row", fmt.Sprint(-3-i))
		x.key("\r")
		x.run(chromedp.WaitVisible(".detail .message"))
		becomes(x, "document.querySelector('.detail pre.source').textContent.includes('onerror')", true)
	}
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.detail dd button').click()"))
	becomes(x, "document.querySelector('#q').value.includes('onerror')", true)
	x.run(chromedp.SendKeys("#q", " and <script>\r"))
	becomes(x, "document.querySelector('.failure pre')?.textContent.includes('<script>')", true)
	becomes(x, "document.querySelectorAll('#app img, #app script, #app iframe, #app [onload], #app [onerror], #app b svg').length", 0)
	becomes(x, "document.querySelectorAll('svg').length", 1)
	becomes(x, `/[\u0000-\u0008\u000e-\u001f\u202e\u009b]/.test(document.body.textContent)`, false)
	x.fits()
	x.clean(address)
}

// The policy refuses code that a line could inject if it were not escaped.
func TestE2EThePolicyRefusesScripts(t *testing.T) {
	needBrowser(t)
	x := open(t, serve(t, write(t, shop(10))), 800, 600, false)
	x.lines(10)
	becomes(x, "(() => { try { document.body.innerHTML = '<img src=x onerror=alert(1)>'; return 'taken' } catch (e) { return e.name } })()", "TypeError")
	x.run(chromedp.Evaluate[chromedp.Void]("(s => { s.src = 'https://elsewhere.example/x.png'; document.body.append(s) })(document.createElement('img'))"))
	becomes(x, "document.querySelectorAll('main').length", 1)
	x.mu.Lock()
	defer x.mu.Unlock()
	if all := strings.Join(x.errors, "\n"); strings.Count(all, "Content Security Policy") < 1 || strings.Contains(all, "dialog") {
		t.Errorf("got %q, want the policy to refuse", x.errors)
	}
}

func TestE2EStatesWithoutLines(t *testing.T) {
	needBrowser(t)
	file := write(t, "")
	address := serve(t, file)
	x := open(t, address, 420, 860, false)
	becomes(x, "document.querySelector('.empty p')?.textContent", "The file has no lines yet.")
	x.picture("empty")
	appendTo(t, file, shop(5))
	x.lines(5)
	x.query("tenant = nobody", 0)
	becomes(x, "document.querySelector('.empty p')?.textContent", "No line matches.")
	x.run(chromedp.Click(".empty button"))
	x.lines(5)
	if err := os.WriteFile(file, []byte(shop(3)), 0o600); err != nil {
		t.Fatal(err)
	}
	x.lines(3)
	becomes(x, "document.querySelector('.banner').textContent.startsWith('The file was truncated')", true)
	x.fits()
	x.clean(address)
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}
