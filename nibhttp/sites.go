// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/nib-log/nib/sink"
)

// The default and the maximum number of sites that SitesHandler shows.
const (
	defaultSites = 20
	maxSites     = 1000
)

// SitesHandler serves a report of the call sites that write the most bytes to
// the log, with the largest first: as a text table or, if Accept names
// application/json, as an object. The parameter n, as in ?n=50, is the number
// of call sites; the default is 20. The report has names of functions and,
// without call sites, messages: do not serve it to the public. It is safe for
// concurrent use.
func SitesHandler(s *sink.SiteCounter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		n := defaultSites
		if text := r.URL.Query().Get("n"); text != "" {
			var err error
			if n, err = strconv.Atoi(text); err != nil || n < 1 || n > maxSites {
				http.Error(w, fmt.Sprintf("nib/http: n is %q, want 1 to %d", text, maxSites), http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if accepts(r, typeJSON) {
			w.Header().Set("Content-Type", typeJSON)
			_ = json.NewEncoder(w).Encode(s.Report(n)) // otherwise the client went away
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprint(w, s.Report(n))
	})
}
