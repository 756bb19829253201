// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
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

// Of a file that is longer than the Content-Length net/http sends the header,
// but no byte.
func TestReadFromOfAFileThatIsTooLongSendsTheHeader(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		f, err := os.Open("limits_test.go")
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		w.Header().Set("Content-Length", "1")
		if n, err := io.Copy(w, f); n != 0 || !errors.Is(err, http.ErrContentLength) {
			t.Errorf("got %d bytes, %v, want 0, %v", n, err, http.ErrContentLength)
		}
		http.Error(w, "too long", http.StatusInternalServerError)
	})
	server := httptest.NewServer(g)
	defer server.Close()
	res, err := server.Client().Get(server.URL)
	must.Succeed(t, err)
	res.Body.Close()
	<-g.ended
	if got := g.rec.Find("request")["status"]; got != 200.0 || res.StatusCode != 200 {
		t.Errorf("got status %v in the line and %d over HTTP, want 200", got, res.StatusCode)
	}
}

// A counting copier counts the calls of its ReadFrom, which may be a sendfile.
type counting struct {
	copier
	calls *int
}

func (c counting) ReadFrom(r io.Reader) (int64, error) {
	*c.calls++
	return c.copier.ReadFrom(r)
}

// However a file or connection is copied, net/http gets it and not its bytes.
func TestFilesAndConnectionsAreCopiedByNetHTTP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(path, []byte("five!"), 0o600))
	open := func() io.ReadCloser {
		f, err := os.Open(path)
		must.Succeed(t, err)
		return f
	}
	dial := func() io.ReadCloser { return connection(t, "five!") }
	text := func() io.ReadCloser { return io.NopCloser(strings.NewReader("five!")) }
	for _, c := range []struct {
		name string
		from func() io.ReadCloser
		copy func(io.Writer, io.Reader) (int64, error)
		want int
	}{
		{"io.Copy of a file", open, io.Copy, 1},
		{"io.CopyN of a file", open, copyFive, 1},
		{"io.Copy of a connection", dial, io.Copy, 1},
		{"io.CopyN of a connection", dial, copyFive, 1},
		{"io.Copy of a text", text, io.Copy, 0},
	} {
		calls := 0
		g := newRig(func(w http.ResponseWriter, _ *http.Request) {
			r := c.from()
			defer r.Close()
			if n, err := c.copy(w, r); n != 5 || err != nil {
				t.Errorf("%s: got %d bytes, %v", c.name, n, err)
			}
		})
		g.ServeHTTP(counting{copier{httptest.NewRecorder()}, &calls}, newRequest("/"))
		if got := g.rec.Find("request")["bytes"]; calls != c.want || got != 5.0 {
			t.Errorf("%s: got %d calls of ReadFrom and %v bytes, want %d and 5",
				c.name, calls, got, c.want)
		}
	}
}

func copyFive(w io.Writer, r io.Reader) (int64, error) { return io.CopyN(w, r, 5) }

// connection returns a connection from which text can be read.
func connection(t *testing.T, text string) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	must.Succeed(t, err)
	s, err := l.Accept()
	must.Succeed(t, err)
	defer s.Close()
	if _, err := io.WriteString(s, text); err != nil {
		t.Fatal(err)
	}
	return c
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
	must.Succeed(t, err)
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
