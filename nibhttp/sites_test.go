// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/sink"
)

func TestSitesHandler(t *testing.T) {
	sites := sink.Sites(sink.Discard(), sink.SitesConfig{})
	for i := range 30 {
		message := fmt.Appendf(nil, "m%d", i)
		_ = sites.WriteRecord(&nib.Record{Line: make([]byte, 100+i), Message: message})
	}
	text := func(n int) string { return sites.Report(n).String() }
	for _, c := range []struct {
		method, url, accept string

		status     int
		want, kind string
	}{
		{"GET", "/", "", 200, text(20), "text/plain; charset=utf-8"},
		{"GET", "/?n=5", "", 200, text(5), "text/plain; charset=utf-8"},
		{"HEAD", "/?n=", "text/html", 200, text(20), "text/plain; charset=utf-8"},
		{"GET", "/?n=1000", "application/json", 200,
			`{"lines":30,"bytes":3435,"sites":[{"message":"m29"`, "application/json"},
		{"GET", "/?n=1", "application/json;q=0", 200, text(1), "text/plain; charset=utf-8"},
		{"GET", "/?n=0", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"GET", "/?n=1001", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"GET", "/?n=x", "", 400, "want 1 to 1000", "text/plain; charset=utf-8"},
		{"POST", "/", "", 405, "want GET or HEAD", "text/plain; charset=utf-8"},
	} {
		w := ask(nibhttp.SitesHandler(sites), c.method, c.url, "", "Accept", c.accept)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %d %q, want %d %q", c.method, c.url, w.Code, got, c.status, c.want)
		}
		if got := w.Header().Get("Content-Type"); got != c.kind {
			t.Errorf("%s %s: got type %q, want %q", c.method, c.url, got, c.kind)
		}
	}
}
