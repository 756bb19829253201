// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
)

func BenchmarkMiddleware(b *testing.B) {
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
	}{
		{"line", func(http.ResponseWriter, *http.Request) {}},
		{"line and logger", func(_ http.ResponseWriter, r *http.Request) { _ = nib.FromContext(r.Context()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := nibhttp.Middleware(nib.New(io.Discard))(c.h)
			r := httptest.NewRequest("GET", "/some/path", nil)
			var w http.ResponseWriter = nullWriter{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}
