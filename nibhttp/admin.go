// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nib-log/nib"
)

// maxLevelBody bounds the body of a PUT.
const maxLevelBody = 1 << 10

// LevelHandler shows and changes a level while the server runs:
//
//	GET  gives the level, as text ("info") or, if Accept names application/json, as {"level":"info"}
//	PUT  sets it to what the body says, in either form by its Content-Type, and gives the new one
//
// Whoever can reach it can change what is logged: keep it off the public side.
// It is safe for concurrent use.
func LevelHandler(v *nib.LevelVar) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodPut:
			if err := readLevel(v, w, r); err != nil {
				status := http.StatusBadRequest
				if errors.As(err, new(*http.MaxBytesError)) {
					status = http.StatusRequestEntityTooLarge
				}
				http.Error(w, err.Error(), status)
				return
			}
		default:
			w.Header().Set("Allow", "GET, HEAD, PUT")
			http.Error(w, "GET or PUT", http.StatusMethodNotAllowed)
			return
		}
		showLevel(v, w, r)
	})
}

// A levelBody is the JSON form of a level.
type levelBody struct {
	Level *nib.Level `json:"level"`
}

func readLevel(v *nib.LevelVar, w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLevelBody))
	if err != nil {
		return fmt.Errorf("nib/http: level: %w", err)
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return v.UnmarshalText([]byte(strings.TrimSpace(string(body))))
	}
	var b levelBody
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("nib/http: level: %w", err)
	}
	if b.Level == nil {
		return errors.New(`nib/http: level: want {"level":"info"}`)
	}
	v.Set(*b.Level)
	return nil
}

func showLevel(v *nib.LevelVar, w http.ResponseWriter, r *http.Request) {
	level := v.String()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	for _, accept := range r.Header["Accept"] {
		for a := range strings.SplitSeq(accept, ",") {
			if isJSON(a) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, "{\"level\":%q}\n", level)
				return
			}
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, level)
}

func isJSON(mediaType string) bool {
	t, _, err := mime.ParseMediaType(mediaType)
	return err == nil && t == "application/json"
}

// MetricsHandler gives the counters of l, and of all loggers that share its
// sink, as Prometheus text; see [WriteMetrics]. It is safe for concurrent use.
func MetricsHandler(l *nib.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = WriteMetrics(w, l.Stats()) // the client went away
	})
}

// WriteMetrics writes s as Prometheus text (exposition format 0.0.4), for
// servers that have an endpoint of their own to add it to. It allocates.
func WriteMetrics(w io.Writer, s nib.Stats) error {
	var b strings.Builder
	for _, m := range []struct {
		name, help string
		value      uint64
	}{
		{"nib_lines_failed_total", "Lines the sink or writer returned an error for.", s.Failed},
		{"nib_lines_reentrant_total", "Lines dropped because their own sink logged them without end.", s.Reentrant},
		{"nib_lines_aborted_total", "Lines lost because user code ended the goroutine half-way.", s.Aborted},
		{"nib_events_misused_total", "Calls on events that had been finished.", s.Misused},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", m.name, m.help, m.name, m.name, m.value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
