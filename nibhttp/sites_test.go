// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nib-log/nib/nibhttp"
)

// A reporter writes its parameters, or fails.
type reporter struct{ err error }

func (r reporter) WriteText(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, "text of %d", n)
	return errors.Join(r.err, err)
}

func (r reporter) WriteJSON(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, `{"n":%d}`, n)
	return errors.Join(r.err, err)
}

func TestSitesHandler(t *testing.T) {
	for _, c := range []struct {
		method, url, accept string

		status     int
		want, kind string
	}{
		{"GET", "/", "", 200, "text of 20", "text/plain; charset=utf-8"},
		{"GET", "/?n=5", "", 200, "text of 5", "text/plain; charset=utf-8"},
		{"HEAD", "/?n=", "text/html", 200, "text of 20", "text/plain; charset=utf-8"},
		{"GET", "/?n=1000", "application/json", 200, `{"n":1000}`, "application/json"},
		{"GET", "/?n=1", "application/json;q=0", 200, "text of 1", "text/plain; charset=utf-8"},
		{"GET", "/?n=0", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"GET", "/?n=1001", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"GET", "/?n=x", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"POST", "/", "", 405, "want GET or HEAD", "text/plain; charset=utf-8"},
	} {
		w := ask(nibhttp.SitesHandler(reporter{}), c.method, c.url, "", "Accept", c.accept)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %d %q, want %d %q", c.method, c.url, w.Code, got, c.status, c.want)
		}
		if got := w.Header().Get("Content-Type"); got != c.kind {
			t.Errorf("%s %s: got type %q, want %q", c.method, c.url, got, c.kind)
		}
	}
	if w := ask(nibhttp.SitesHandler(reporter{errors.New("broken")}), "GET", "/", ""); w.Code != 500 || !strings.Contains(w.Body.String(), "broken") {
		t.Errorf("got %d %q", w.Code, w.Body.String())
	}
}
