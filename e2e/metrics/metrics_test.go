// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/metrics"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

var update = flag.Bool("update", false, "write the table in docs/metrics.md")

var kinds = map[metrics.Kind]string{metrics.KindCounter: "counter", metrics.KindGauge: "gauge"}

// families are the metrics of a scrape, by name.
type families map[string]metrics.Metric

func (s *service) families() families {
	all := families{}
	for _, source := range s.sources {
		for m := range source.Metrics() {
			if _, ok := all[m.Name]; !ok {
				all[m.Name] = m
			}
		}
	}
	return all
}

// scrape returns the series of a scrape as the parser of Prometheus reads them.
func (s *service) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	var b bytes.Buffer
	must(t, metrics.WriteOpenMetrics(&b, s.sources...))
	series := map[string]float64{}
	p, err := textparse.New(b.Bytes(), "application/openmetrics-text", labels.NewSymbolTable(), textparse.ParserOptions{})
	must(t, err)
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return series
		}
		if err != nil {
			t.Fatalf("OpenMetrics: %v in\n%s", err, b.String())
		}
		if entry != textparse.EntrySeries {
			continue
		}
		text, _, value := p.Series()
		if _, twice := series[string(text)]; twice {
			t.Errorf("%s is there twice", text)
		}
		series[string(text)] = value
	}
}

func TestPromlint(t *testing.T) {
	s := newService(t)
	s.log.Info().Msg("one")
	var b bytes.Buffer
	must(t, metrics.WritePrometheus(&b, s.sources...))
	problems, err := promlint.New(bytes.NewReader(b.Bytes())).Lint()
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if n := strings.Count(b.String(), "# TYPE "); n < 60 {
		t.Errorf("linted %d metrics, want all", n)
	}
	faulty := strings.NewReader("# HELP x_total X.\n# TYPE x_total gauge\nx_total 1\n")
	if problems, _ = promlint.New(faulty).Lint(); len(problems) == 0 {
		t.Error("the linter finds nothing in a gauge named x_total")
	}
}

// TestSeriesStayTheSame scrapes a service under load, while files are rotated,
// lines dropped and batches refused.
func TestSeriesStayTheSame(t *testing.T) {
	scrapes := 100
	if os.Getenv("NIB_E2E") == "full" {
		scrapes = 1000
	}
	s := newService(t)
	stop := make(chan struct{})
	running := s.run(stop)
	defer func() { close(stop); running.Wait() }()

	first := s.scrape(t)
	last, from := first, time.Now()
	for range scrapes {
		must(t, s.file.Rotate())
		next := s.scrape(t)
		if added := difference(next, first); len(added) > 0 {
			t.Fatalf("new series: %v", added)
		}
		if gone := difference(first, next); len(gone) > 0 {
			t.Fatalf("series that are gone: %v", gone)
		}
		for name, v := range next {
			if strings.Contains(name, "_total") && v < last[name] {
				t.Errorf("%s fell from %v to %v", name, last[name], v)
			}
		}
		last = next
	}
	for name := range last {
		if free := regexp.MustCompile(`="[0-9.]+(ns|µs|us|ms|s|m|h)?"`).FindString(name); free != "" && !strings.HasPrefix(free, `="0`) && !strings.HasPrefix(free, `="1`) {
			t.Errorf("%s has a number or duration in a label", name)
		}
	}
	t.Logf("%d scrapes of %d series in %v", scrapes, len(first), time.Since(from).Round(time.Millisecond))
}

func difference(a, b map[string]float64) (only []string) {
	for name := range a {
		if _, ok := b[name]; !ok {
			only = append(only, name)
		}
	}
	slices.Sort(only)
	return only
}

const (
	guide      = "../../docs/metrics.md"
	tableBegin = "<!-- metrics: begin -->\n"
	tableEnd   = "<!-- metrics: end -->\n"
)

// TestGuideListsAllMetrics compares the table in docs with all metrics.
func TestGuideListsAllMetrics(t *testing.T) {
	all := newService(t).families()
	var table strings.Builder
	table.WriteString(tableBegin + "| metric | kind | labels | what |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		var names []string
		for _, l := range m.Labels {
			if l.Name != "branch" {
				names = append(names, "`"+l.Name+"`")
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, kinds[m.Kind],
			strings.Join(names, ", "), m.Help)
	}
	table.WriteString(tableEnd)
	text, err := os.ReadFile(guide)
	must(t, err)
	before, rest, ok := strings.Cut(string(text), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between %q and %q", guide, tableBegin, tableEnd)
	}
	if want := before + table.String() + after; want != string(text) {
		if *update {
			must(t, os.WriteFile(guide, []byte(want), 0o644))
			return
		}
		t.Errorf("the table in %s is older than the code: run go test -run %s -update", guide, t.Name())
	}
}

func TestUnitsAreThoseOfTheName(t *testing.T) {
	for name, m := range newService(t).families() {
		base := strings.TrimSuffix(name, "_total")
		unit := base[strings.LastIndexByte(base, '_')+1:]
		if (unit == "seconds" || unit == "bytes") != (m.Unit != "") {
			t.Errorf("%s has the unit %s", name, strconv.Quote(m.Unit))
		}
	}
}
