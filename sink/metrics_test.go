// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink"
)

// A counting sink has its own metrics.
type counting struct {
	quiet
	n float64
}

func (c counting) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	l.Counter("test_lines_total", "Lines.", c.n)
	l.Counter("test_lines_total", "Lines.", c.n+1, metrics.Label{Name: "branch", Value: "inner"})
	return l.Metrics()
}

// plain is a sink without metrics.
type plain struct{ quiet }

// shown lists the samples in the text format of Prometheus.
func shown(t *testing.T, s any) []string {
	t.Helper()
	source, ok := s.(metrics.Source)
	if !ok {
		t.Fatalf("%T has no metrics", s)
	}
	var b strings.Builder
	must.Succeed(t, metrics.WritePrometheus(&b, source))
	var all []string
	for line := range strings.SplitSeq(strings.TrimSpace(b.String()), "\n") {
		if !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// wantShown compares the samples whose names begin with prefix.
func wantShown(t *testing.T, s any, prefix string, want ...string) {
	t.Helper()
	var got []string
	for _, line := range shown(t, s) {
		if strings.HasPrefix(line, prefix) {
			got = append(got, line)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("metrics:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestMetricsOfAllBranches(t *testing.T) {
	keep := func(r *nib.Record) bool { return r.Level > nib.LevelInfo }
	s := sink.Tee(
		sink.Filter(counting{n: 1}, keep),
		sink.Named("r", sink.Route(counting{n: 3}, sink.AtLeast(nib.LevelError, sink.Named("x", counting{n: 5})))),
		plain{},
	)
	_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
	_ = s.WriteRecord(record(nib.LevelError, "{}"))
	wantShown(t, s, "nib_filter",
		`nib_filter_dropped_lines_total{branch="0"} 1`,
		`nib_filter_faults_total{branch="0"} 0`,
		`nib_filter_passed_lines_total{branch="0"} 1`)
	wantShown(t, s, "nib_route",
		`nib_route_lines_total{branch="r/0"} 1`,
		`nib_route_lines_total{branch="r/x"} 1`)
	wantShown(t, s, "test",
		`test_lines_total{branch="0"} 1`,
		`test_lines_total{branch="0/inner"} 2`,
		`test_lines_total{branch="r/0"} 3`,
		`test_lines_total{branch="r/0/inner"} 4`,
		`test_lines_total{branch="r/x"} 5`,
		`test_lines_total{branch="r/x/inner"} 6`)
}

func TestASinkInSeveralBranchesShowsItsMetricsOnce(t *testing.T) {
	shared := &counting{n: 7}
	s := sink.Tee(
		sink.Filter(shared, func(*nib.Record) bool { return true }),
		sink.Named("r", sink.Route(shared, sink.AtLeast(nib.LevelError, shared))),
		shared,
		&counting{n: 9},
	)
	wantShown(t, s, "test",
		`test_lines_total{branch="0"} 7`,
		`test_lines_total{branch="0/inner"} 8`,
		`test_lines_total{branch="3"} 9`,
		`test_lines_total{branch="3/inner"} 10`)
}

func TestLoggerShowsMetricsBehindItsSink(t *testing.T) {
	log := nib.NewSink(sink.Filter(counting{n: 1}, func(*nib.Record) bool { return true }))
	log.Info().Msg("one")
	wantShown(t, log, "nib_filter_passed", "nib_filter_passed_lines_total 1")
	wantShown(t, log, "test", "test_lines_total 1", `test_lines_total{branch="inner"} 2`)
	twice := sink.Filter(sink.Filter(newQuiet(), func(*nib.Record) bool { return true }), func(*nib.Record) bool { return true })
	_ = twice.WriteRecord(record(0, "{}"))
	wantShown(t, twice, "nib_filter_passed", "nib_filter_passed_lines_total 2") // one series: their sum
}
