// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib"
)

// A Counter shows what it has counted: every combinator of package sink does, for
// all sinks behind it. It calls visit once for each count: its name (one that
// ends in _total only grows), what it counts, its value, and its labels as pairs
// of name and value.
type Counter interface {
	Counters(visit func(name, help string, value uint64, labels ...string))
}

// MetricsHandler gives the counters of l, and of all loggers that share its
// sink, and those of more, for Prometheus; see [WriteMetrics]. It answers in
// OpenMetrics 1.0 where the client asks for that, otherwise in the text format
// 0.0.4. It is safe for concurrent use.
func MetricsHandler(l *nib.Logger, more ...Counter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		open := wantsOpenMetrics(r)
		contentType := "text/plain; version=0.0.4; charset=utf-8"
		if open {
			contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Vary", "Accept")
		_ = collect(l.Stats(), more).write(w, open) // else the client went away
	})
}

// WriteMetrics writes s and what more show as Prometheus text (exposition format
// 0.0.4), for servers that have an endpoint of their own to add it to. Counts
// with the same name and labels are added up. It allocates.
func WriteMetrics(w io.Writer, s nib.Stats, more ...Counter) error {
	return collect(s, more).write(w, false)
}

// wantsOpenMetrics reports whether Accept names OpenMetrics.
func wantsOpenMetrics(r *http.Request) bool {
	for _, accept := range r.Header["Accept"] {
		for a := range strings.SplitSeq(accept, ",") {
			t, params, err := mime.ParseMediaType(a)
			if err == nil && t == "application/openmetrics-text" && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}

// metrics are counts in families, as the formats ask for.
type metrics struct {
	families []*family
	byName   map[string]*family
}

// A family is all counts with one name.
type family struct {
	name, help string
	samples    []sample
}

type sample struct {
	labels string // `a="b",c="d"`
	value  uint64
}

func collect(s nib.Stats, more []Counter) *metrics {
	m := &metrics{byName: map[string]*family{}}
	m.add("nib_lines_failed_total", "Lines the sink or writer returned an error for.", s.Failed)
	m.add("nib_lines_reentrant_total", "Lines dropped because their own sink logged them without end.", s.Reentrant)
	m.add("nib_lines_aborted_total", "Lines lost because user code ended the goroutine half-way.", s.Aborted)
	m.add("nib_events_misused_total", "Calls on events that had been finished.", s.Misused)
	for _, c := range more {
		if c != nil {
			c.Counters(m.add)
		}
	}
	return m
}

// add takes one count; see Counter.
func (m *metrics) add(name, help string, value uint64, labels ...string) {
	name = metricName(name, ":")
	f := m.byName[name]
	if f == nil {
		f = &family{name: name, help: help}
		m.byName[name] = f
		m.families = append(m.families, f)
	}
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, metricName(labels[i], "")+`="`+escapeMetric(labels[i+1], true)+`"`)
	}
	slices.Sort(pairs)
	text := strings.Join(pairs, ",")
	for i := range f.samples {
		if f.samples[i].labels == text {
			f.samples[i].value += value
			return
		}
	}
	f.samples = append(f.samples, sample{text, value})
}

// write writes the families in either format. In OpenMetrics the family of a
// counter has no _total and the text ends in a line that says so.
func (m *metrics) write(w io.Writer, open bool) error {
	var b strings.Builder
	for _, f := range m.families {
		name, kind := f.name, "gauge"
		if base, ok := strings.CutSuffix(name, "_total"); ok {
			kind = "counter"
			if open {
				name = base
			}
		}
		b.WriteString("# HELP " + name + " " + escapeMetric(f.help, open) + "\n# TYPE " + name + " " + kind + "\n")
		for _, s := range f.samples {
			b.WriteString(f.name)
			if s.labels != "" {
				b.WriteString("{" + s.labels + "}")
			}
			b.WriteString(" " + strconv.FormatUint(s.value, 10) + "\n")
		}
	}
	if open {
		b.WriteString("# EOF\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// metricName replaces what a name must not have: it is letters, digits, _ and
// what else is allowed, and does not begin with a digit.
func metricName(name, allowed string) string {
	clean := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || strings.ContainsRune(allowed, c) {
			return c
		}
		return '_'
	}, name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		return "_" + clean
	}
	return clean
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// escapeMetric escapes a help text or, with quotes, the value of a label.
func escapeMetric(s string, quotes bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if quotes {
		return valueEscapes.Replace(s)
	}
	return helpEscapes.Replace(s)
}
