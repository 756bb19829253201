// SPDX-License-Identifier: Apache-2.0

// Package page_test opens the page of allocs in a real browser.
package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page in a browser, and its errors.
type tab struct {
	*testing.T
	ctx    context.Context
	mu     sync.Mutex
	errors []string
	asked  []string // addresses
}

// open starts a browser with the page in a window of the given size.
func open(t *testing.T, file string, width, height int, dark bool) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.WSURLReadTimeout(2*time.Minute), chromedp.Flag("force-color-profile", "srgb"))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	x := &tab{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, x.listen); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	call(x, network.Enable, network.EnableParams{})
	call(x, log.Enable, cdp.Empty{})
	call(x, runtime.Enable, cdp.Empty{})
	call(x, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	call(x, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1})
	x.run(chromedp.Navigate("file://"+file), chromedp.WaitReady(".leaf .hit"))
	return x
}

func (x *tab) listen(event any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		x.errors = append(x.errors, fmt.Sprintf("%+v", *e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		x.errors = append(x.errors, "console: "+string(e.Type))
	case *log.EventEntryAdded:
		x.errors = append(x.errors, "log: "+e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		x.errors = append(x.errors, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		x.asked = append(x.asked, e.Request.URL)
	}
}

func call[P, R any](x *tab, command cdp.Command[P, R], params P) {
	x.Helper()
	if _, err := chromedp.Call(x.ctx, command, params); err != nil {
		x.Fatal(err)
	}
}

func (x *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	x.Helper()
	if err := chromedp.Do(x.ctx, actions...); err != nil {
		x.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](x *tab, expression string) T {
	x.Helper()
	value, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		x.Fatalf("%s: %v", expression, err)
	}
	return value
}

// equal waits for nothing: the page answers at once.
func equal[T comparable](x *tab, expression string, want T) {
	x.Helper()
	if got := eval[T](x, expression); got != want {
		x.Errorf("%s: got %v, want %v", expression, got, want)
	}
}

// clean fails when something was written to the console or requested from
// anywhere.
func (x *tab) clean() {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errors) > 0 {
		x.Errorf("errors: %q", x.errors)
	}
	if len(x.asked) != 1 || !strings.HasPrefix(x.asked[0], "file://") {
		x.Errorf("requests: %q, want the page alone", x.asked)
	}
}

// picture keeps a screenshot in the directory that NIB_E2E_PICTURES names.
func (x *tab) picture(name string) {
	x.Helper()
	dir := os.Getenv("NIB_E2E_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(x.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		x.Fatal(err)
	}
	write(x.T, filepath.Join(dir, name+".png"), string(png))
}

// fits fails when something is wider than the window.
func (x *tab) fits() {
	x.Helper()
	equal(x, "document.documentElement.scrollWidth <= innerWidth", true)
}

func needBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("NIB_E2E is not set: it starts a browser")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if _, err := exec.LookPath(name); err == nil {
			return
		}
	}
	t.Skip("there is no chromium here (apt-get install chromium)")
}

// names returns a script for the names of the leaves that are in sight.
const names = "[...document.querySelectorAll('.leaf')].filter(e => e.checkVisibility())" +
	".map(e => e.querySelector('.name').textContent.replace(/.*Handle./, ''))"

func TestE2ELeavesHeaviestFirst(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 200)
	x := open(t, file, 1400, 1000, false)
	x.picture("wide-light")
	x.fits()
	equal(x, names+".slice(0, 3).join()", "15_items,14_items,13_items")
	equal(x, "document.querySelector('.leaf .count').textContent", "×42.5")
	equal(x, "document.querySelector('.leaves h2 span').textContent", "20 benchmarks, 12 with allocations")

	// The bar of the heaviest is full, and its parts are its lines.
	const parts = "[...document.querySelectorAll('.leaves:not([hidden]) .leaf')].map(e => " +
		"[...e.querySelectorAll('rect')].reduce((sum, r) => sum + +r.getAttribute('width'), 0))"
	equal(x, "Math.round("+parts+"[0])", 1000)
	equal(x, parts+".every((w, i, all) => !i || w <= all[i - 1])", true)

	// It is open, and each line is beside its source and its reason.
	equal(x, "document.querySelectorAll('.leaves:not([hidden]) .leaf[open] .line').length", 4)
	equal(x, "document.querySelector('.leaf .line .hit').textContent.includes('request')", true)
	equal(x, "document.querySelector('.leaf .line dd.why').textContent",
		"r.Method and <i>others</i> are copied to the heap")
	equal(x, "document.querySelector('.leaf .line:last-child .source').textContent.includes('not put on a line')", true)

	// Others unfold with their source.
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('.leaf summary')[2].click()"))
	equal(x, "document.querySelectorAll('.leaf')[2].open", true)
	x.run(chromedp.WaitVisible(".leaves:not([hidden]) .leaf:nth-of-type(3) .hit"))
	x.picture("wide-open")
	x.fits()
	equal(x, cutOff, "")
	x.clean()
}

func TestE2EKeysAlone(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 200)
	x := open(t, file, 1400, 1000, true)
	equal(x, "getComputedStyle(document.body).backgroundColor", "rgb(16, 18, 20)")
	x.picture("wide-dark")
	x.run(chromedp.KeyEvent("/"))
	equal(x, "document.activeElement.id", "q")
	x.run(chromedp.Evaluate[chromedp.Void]("q.value = ''"), chromedp.SendKeys("#q", "handle155")) // the key is typed, too, by this driver
	equal(x, "document.querySelectorAll('.leaf:not([hidden])').length", 0)
	equal(x, "document.querySelectorAll('.root:not([hidden])').length", 1)
	x.run(chromedp.KeyEvent("\x1b"))
	equal(x, "document.querySelectorAll('.root:not([hidden])').length", 200)
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.root summary').focus()"), chromedp.KeyEvent("t"))
	equal(x, "getComputedStyle(document.body).backgroundColor", "rgb(251, 251, 250)")
	x.clean()
}

func TestE2EReleasesFunctionsAndChanges(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 200)
	x := open(t, file, 1400, 1000, false)
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-release=\"2\"]').click()"))
	equal(x, "[...document.querySelectorAll('.leaves:not([hidden])')].map(e => e.dataset.of).join()", "2")
	equal(x, "document.querySelectorAll('#gate .change').length", 30)
	equal(x, "document.querySelector('#roots h2 span').textContent", "2 above what is allowed, 38 counted, 160 possible")
	equal(x, "document.querySelector('.root').open", true)
	equal(x, "document.querySelector('.root .hit') !== null", true)
	equal(x, "[...document.querySelectorAll('#possible summary')].map(e => e.textContent.trim()).join(', ')",
		"beyond a size that no benchmark has: 219 sites")
	x.clean()
}

func TestE2ESmallScreen(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 200)
	for _, dark := range []bool{false, true} {
		x := open(t, file, 420, 850, dark)
		x.fits()
		equal(x, cutOff, "")
		// All bars have the same place, so that their lengths can be compared.
		equal(x, "new Set([...document.querySelectorAll('.leaf > summary svg')].filter("+
			"e => e.checkVisibility()).map(e => e.getBoundingClientRect().width)).size", 1)
		x.picture(fmt.Sprintf("small-dark-%v", dark))
		// Long names leave the button and the arrow their places.
		const long = "document.querySelector('h1').textContent = 'github.com/' + 'm'.repeat(20);" +
			"document.querySelector('.leaf .name').textContent = 'Benchmark' + 'n'.repeat(40)"
		const lines = "(e => Math.round(e.getBoundingClientRect().height /" +
			" parseFloat(getComputedStyle(e).lineHeight)))"
		x.run(chromedp.Evaluate[chromedp.Void](long))
		equal(x, "document.querySelector('#theme').getBoundingClientRect().height < 40", true)
		equal(x, lines+"(document.querySelector('.leaf .name')) <= 2", true)
		x.fits()
		x.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('.root')[50].scrollIntoView()"),
			chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('.root')[1].open = true"))
		x.fits()
		equal(x, cutOff, "")
		x.clean()
	}
}

// cutOff is a script that returns the elements that are cut off: an element
// that is wider than its place and cannot be scrolled, or that is outside of
// the window.
const cutOff = `(() => {
  const bad = new Set();
  for (const e of document.querySelectorAll('header *, main *')) {
    if (!e.checkVisibility() || e.closest('svg')) continue;
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    const hidden = style.overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 1;
    if (hidden || box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)) bad.add(e.tagName + '.' + e.className);
  }
  return [...bad].join('; ');
})()`

// contrasts is a script that returns the texts of the page whose colour has
// less than 4.5 times the contrast to the background (WCAG 2, level AA).
const contrasts = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = e => { const c = rgba(getComputedStyle(e).backgroundColor); return c[3] === 1 ? c : over(c, e.parentElement ? ground(e.parentElement) : rgba('Canvas')); };
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const bad = new Set();
  for (const e of document.querySelectorAll('header *, main *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const behind = ground(e), text = over(rgba(getComputedStyle(e).color), behind), a = light(text), b = light(behind);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return [...bad].join('; ');
})()`

func TestE2EContrast(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 200)
	for _, dark := range []bool{false, true} {
		x := open(t, file, 1400, 1000, dark)
		x.run(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('.leaf, .rest, .root')].slice(0, 80).forEach(d => d.open = true)"))
		equal(x, contrasts, "")
		x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.soft').style.color = 'var(--line)'"))
		if eval[string](x, contrasts) == "" {
			t.Error("grey text is not noticed")
		}
		x.clean()
	}
}

// TestE2EManyRoots reports how fast the page of a large service is; the times
// are printed and not checked.
func TestE2EManyRoots(t *testing.T) {
	needBrowser(t)
	file, size := pageFile(t, 1000)
	x := open(t, file, 1400, 1000, false)
	ready := eval[float64](x, "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart")
	search := eval[float64](x, "(() => { const t = performance.now(); q.value = 'handle'; q.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - t })()")
	t.Logf("1000 roots, 41 sites each: %d kB; loaded and drawn in %.0f ms; a search in %.0f ms",
		size/1000, ready, search)
	if size > 4<<20 {
		t.Errorf("got %d bytes, want at most 4 MiB", size)
	}
	equal(x, "document.querySelectorAll('.root').length", 1000)
	x.fits()
	x.clean()
}

// TestE2ETheChecksCanFail shows that a page that requests something, or whose
// script fails, is noticed.
func TestE2ETheChecksCanFail(t *testing.T) {
	needBrowser(t)
	file, _ := pageFile(t, 20)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "</body>", "<script>alert(1)</script><img src='https://elsewhere.example/x.png'></body>", 1)
	if broken == string(text) {
		t.Fatal("the page has no end")
	}
	write(t, file, broken)
	x := open(t, file, 800, 600, false)
	x.mu.Lock()
	defer x.mu.Unlock()
	if all := strings.Join(x.errors, "\n"); strings.Count(all, "Content Security Policy") < 2 || strings.Contains(all, "dialog") {
		t.Errorf("got %q, want the policy to refuse both the script and the picture", x.errors)
	}
}
