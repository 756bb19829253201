// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

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

// program builds nib once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "nib-e2e")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "nib")
	cmd := exec.Command("go", "build", "-o", name, ".")
	cmd.Dir = "../../cmd/nib"
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := program(); err == nil && os.Getenv("NIB_E2E") != "" {
		_ = os.RemoveAll(filepath.Dir(name)) // a temporary directory
	}
	os.Exit(code)
}

// serve runs nib view, and returns the address of its page.
func serve(t *testing.T, file string) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, "view", file)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // Wait returns the error
		done := time.AfterFunc(2*time.Minute, cancel)
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("nib view: %v\n%s", err, &stderr)
		}
		done.Stop()
		cancel()
	})
	for r := bufio.NewScanner(out); r.Scan(); {
		if address := strings.TrimSpace(r.Text()); strings.HasPrefix(address, "http://") {
			return address
		}
	}
	t.Fatalf("nib view has written no address\n%s", &stderr)
	return ""
}

// A tab is a page in a browser, and its errors.
type tab struct {
	*testing.T
	ctx    context.Context
	mu     sync.Mutex
	errors []string
	asked  []string // addresses
}

// open starts a browser with an address in a window of the given size.
func open(t *testing.T, address string, width, height int, dark bool) *tab {
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
	call(x, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	call(x, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	call(x, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1})
	x.run(chromedp.Navigate(address), chromedp.WaitReady("main"))
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
		x.errors = append(x.errors, "log: "+e.Entry.Text+" "+e.Entry.URL)
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

// state is the content of the page, in short.
const state = `[location.search, document.querySelector('.live')?.textContent, document.querySelector('.banner')?.textContent,
  document.querySelector('.summary')?.textContent, ...[...document.querySelectorAll('.row')].map(e => e.dataset.row + ' ' + e.className)].join('\n')`

// becomes waits until an expression has a value.
func becomes[T comparable](x *tab, expression string, want T) {
	x.Helper()
	var got T
	zero, err := json.Marshal(got)
	if err != nil {
		x.Fatal(err)
	}
	expression = "(" + expression + ") ?? " + string(zero)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if got = eval[T](x, expression); got == want {
			return
		}
		<-time.After(20 * time.Millisecond) // the browser is another process
	}
	x.picture("failed")
	shown := eval[string](x, state)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.Fatalf("%s: got %v, want %v\n%s\nerrors: %q", expression, got, want, shown, x.errors)
}

func (x *tab) key(keys ...string) {
	x.Helper()
	for _, k := range keys {
		x.run(chromedp.KeyEvent(k))
	}
}

// query types a query and waits for the number of lines it selects.
func (x *tab) query(text string, lines int) {
	x.Helper()
	x.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('#q').value = ''; document.querySelector('#q').dispatchEvent(new Event('input'))"),
		chromedp.SendKeys("#q", text+"\r"))
	x.lines(lines)
}

// drag moves the mouse from one point to another with its button down.
func (x *tab) drag(x1, y1, x2, y2 float64) {
	x.Helper()
	for i, e := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMousePressed, X: x1, Y: y1},
		{Type: input.DispatchMouseEventTypeMouseMoved, X: x2, Y: y2},
		{Type: input.DispatchMouseEventTypeMouseReleased, X: x2, Y: y2},
	} {
		if e.Button = input.MouseButtonLeft; i != 1 {
			e.ClickCount = 1
		}
		call(x, input.DispatchMouseEvent, e)
	}
}

// lines waits for a number of lines, all of them read.
func (x *tab) lines(n int) {
	x.Helper()
	becomes(x, "document.querySelector('.progress.done') ? Number(document.querySelector('.summary b').textContent.replaceAll(',', '')) : -1", float64(n))
}

// clean fails when something was written to the console or requested from
// another server.
func (x *tab) clean(address string) {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errors) > 0 {
		x.Errorf("errors: %q", x.errors)
	}
	for _, url := range x.asked {
		if !strings.HasPrefix(url, address) {
			x.Errorf("the page has asked for %s", url)
		}
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
	if err := os.WriteFile(filepath.Join(dir, "view-"+name+".png"), png, 0o644); err != nil {
		x.Fatal(err)
	}
}

// fits fails when something is wider than the window.
func (x *tab) fits() {
	x.Helper()
	becomes(x, "document.documentElement.scrollWidth <= innerWidth", true)
}
