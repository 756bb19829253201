// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
)

func TestFailureBeginsWithStatus500(t *testing.T) {
	for status, want := range map[int]uint64{499: 0, 500: 1} {
		p := request.New(request.Config{})
		h := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
		g := newRig(h, nibhttp.Config{Policy: p})
		if g.do(newRequest("/")); p.Stats().Failed != want {
			t.Errorf("status %d: got %d failed requests, want %d", status, p.Stats().Failed, want)
		}
	}
}

func TestStatusBeginsWith200(t *testing.T) {
	for first, want := range map[int]int{199: 404, 200: 200} {
		g := newRig(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(first)
			w.WriteHeader(http.StatusNotFound)
		})
		g.do(newRequest("/"))
		if got := g.rec.Find("request")["status"]; got != float64(want) {
			t.Errorf("%d: got status %v, want %d", first, got, want)
		}
	}
}

// A copier has the abilities of a writer of HTTP/1.
type copier struct{ *httptest.ResponseRecorder }

func (copier) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

func (c copier) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.ResponseRecorder, r) }

// One byte of a body sends the header with status 200, and none does not.
func TestReadFromSendsTheHeader(t *testing.T) {
	for body, want := range map[string]int{"": 404, "x": 200} {
		g := newRig(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.(io.ReaderFrom).ReadFrom(strings.NewReader(body))
			w.WriteHeader(http.StatusNotFound)
		})
		g.ServeHTTP(copier{httptest.NewRecorder()}, newRequest("/"))
		if got := g.rec.Find("request")["status"]; got != float64(want) {
			t.Errorf("%q: got status %v, want %d", body, got, want)
		}
	}
}

// A crumbling source panics after its text.
type crumbling struct{ text io.Reader }

func (c crumbling) Read(p []byte) (int, error) {
	n, err := c.text.Read(p)
	if err != nil {
		panic("crumbled")
	}
	return n, nil
}

// However the body is written, a panic after a part of it leaves the status
// and the bytes that were sent.
func TestBodyBeforeAPanicIsCounted(t *testing.T) {
	const body = "five!"
	for name, write := range map[string]func(w http.ResponseWriter){
		"Write":    func(w http.ResponseWriter) { _, _ = w.Write([]byte(body)); panic("crumbled") },
		"ReadFrom": func(w http.ResponseWriter) { _, _ = w.(io.ReaderFrom).ReadFrom(crumbling{strings.NewReader(body)}) },
		"io.Copy":  func(w http.ResponseWriter) { _, _ = io.Copy(w, crumbling{strings.NewReader(body)}) },
		"io.CopyN": func(w http.ResponseWriter) { _, _ = io.CopyN(w, crumbling{strings.NewReader(body)}, 9) },
		"a flusher": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, body)
			w.(http.Flusher).Flush()
			panic("crumbled")
		},
	} {
		g := newRig(func(w http.ResponseWriter, _ *http.Request) { write(w) })
		func() {
			defer func() { _ = recover() }()
			g.ServeHTTP(copier{httptest.NewRecorder()}, newRequest("/"))
		}()
		line := g.rec.Find("request")
		if line["status"] != 200.0 || line["bytes"] != float64(len(body)) {
			t.Errorf("%s: got status %v and %v bytes", name, line["status"], line["bytes"])
		}
	}
}

func TestLongestRules(t *testing.T) {
	const longest = 64 << 10
	rules, err := nib.ParseRules("warn")
	if err != nil {
		t.Fatal(err)
	}
	h := nibhttp.RulesHandler(rules)
	for n, want := range map[int]int{256: http.StatusOK, 257: http.StatusBadRequest} {
		w := ask(h, "PUT", "/?logger="+strings.Repeat("n", n), "debug")
		if w.Code != want {
			t.Errorf("a name of %d bytes: got status %d, want %d", n, w.Code, want)
		}
	}
	const added = ",x=debug"
	for size, want := range map[int]int{
		longest - len(added): http.StatusOK, longest - len(added) + 1: http.StatusBadRequest,
	} {
		text := "warn," + strings.Repeat("a", size-len("warn,=debug")) + "=debug"
		if w := ask(h, "PUT", "/", text); w.Code != http.StatusOK {
			t.Fatalf("rules of %d bytes: got status %d: %s", len(text), w.Code, w.Body)
		}
		if w := ask(h, "PUT", "/?logger=x", "debug"); w.Code != want {
			t.Errorf("one more than %d bytes: got status %d, want %d", len(text), w.Code, want)
		}
	}
}
