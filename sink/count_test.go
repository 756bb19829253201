// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink"
)

// A counting sink shows counts of its own.
type counting struct {
	quiet
	n uint64
}

func (c counting) Counters(visit sink.Visit) {
	visit("test_lines_total", "Lines.", c.n)
	visit("test_lines_total", "Lines.", c.n+1, "branch", "inner")
}

// A withStats sink has Stats as the sinks below this package have them.
type withStats struct{ quiet }

type testStats struct {
	Lines      uint64
	TooLarge   uint32
	Pending    uint64
	Dropped    []testDrop
	Text       string
	unexported uint64
}

type testDrop struct {
	Reason string
	Level  nib.Level
	Lines  uint64
}

func (withStats) Stats() testStats {
	return testStats{Lines: 5, TooLarge: 1, Pending: 2, unexported: 9, Dropped: []testDrop{{"full", nib.LevelInfo, 3}, {"gone", 2, 4}}}
}

// Stats of these is not what the combinators look for.
type (
	otherStats  struct{ quiet }
	statsOfArgs struct{ quiet }
)

func (otherStats) Stats() int               { return 1 }
func (statsOfArgs) Stats(int) (s testStats) { return s }

// shown lists the counts as in the text format of Prometheus.
func shown(c sink.Counter) []string {
	var all []string
	for _, n := range sink.Snapshot(c) {
		labels := ""
		for i := 0; i+1 < len(n.Labels); i += 2 {
			labels += fmt.Sprintf(" %s=%s", n.Labels[i], n.Labels[i+1])
		}
		all = append(all, fmt.Sprintf("%s%s %d", n.Name, labels, n.Value))
	}
	return all
}

func wantShown(t *testing.T, c sink.Counter, want ...string) {
	t.Helper()
	if got := shown(c); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("counts:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestCountersOfAllBranchesAreShown(t *testing.T) {
	keep := func(r *nib.Record) bool { return r.Level > nib.LevelInfo }
	s := sink.Tee(
		sink.Filter(counting{n: 1}, keep),
		sink.Named("r", sink.Route(counting{n: 3}, sink.AtLeast(nib.LevelError, sink.Named("x", counting{n: 5})))),
		otherStats{},
		statsOfArgs{},
	)
	_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
	_ = s.WriteRecord(record(nib.LevelError, "{}"))
	var got []string
	for _, line := range shown(s.(sink.Counter)) {
		if !strings.HasPrefix(line, "nib_tee_") {
			got = append(got, line)
		}
	}
	want := []string{
		"nib_filter_dropped_total branch=0 1",
		"nib_filter_faults_total branch=0 0",
		"nib_filter_passed_total branch=0 1",
		"nib_route_lines_total branch=r/0 1",
		"nib_route_lines_total branch=r/x 1",
		"test_lines_total branch=0 1",
		"test_lines_total branch=0/inner 2",
		"test_lines_total branch=r/0 3",
		"test_lines_total branch=r/0/inner 4",
		"test_lines_total branch=r/x 5",
		"test_lines_total branch=r/x/inner 6",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("counts:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestStatsBecomeCounters(t *testing.T) {
	want := func(prefix string) []string {
		return []string{
			prefix + "_dropped_total reason=full level=info 3",
			prefix + "_dropped_total reason=gone level=info+2 4",
			prefix + "_lines_total 5",
			prefix + "_pending 2",
			prefix + "_too_large_total 1",
		}
	}
	wantShown(t, sink.StatsCounter("x", withStats{}.Stats), want("x")...)
	wantShown(t, sink.StatsCounter("x", func() *testStats { s := withStats{}.Stats(); return &s }), want("x")...)
	wantShown(t, sink.StatsCounter("x", func() *testStats { return nil }))
	wantShown(t, sink.StatsCounter("x", func() int { return 1 }))
	wantShown(t, sink.Named("n", withStats{}).(sink.Counter), want("nib_sink_test")...)
	wantShown(t, sink.StatsCounter("log", nib.NewSink(quiet{}).Stats),
		"log_aborted_total 0", "log_failed_total 0", "log_misused_total 0", "log_reentrant_total 0")
}

func TestVarsAreJSON(t *testing.T) {
	s := sink.Tee(counting{n: 1}, withStats{}).(sink.Counter)
	text, err := json.Marshal(sink.Vars(s)())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"test_lines_total{branch=\"0\"}":1`, `"nib_sink_test_dropped_total{reason=\"full\",level=\"info\",branch=\"1\"}":3`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	twice := sink.Filter(sink.Filter(quiet{}, func(*nib.Record) bool { return true }), func(*nib.Record) bool { return true })
	_ = twice.WriteRecord(record(0, "{}"))
	if got := sink.Vars(twice.(sink.Counter))().(map[string]uint64)["nib_filter_passed_total"]; got != 2 {
		t.Errorf("the sum of two counts with the same name is %d, want 2", got)
	}
}

func TestFlushErrorsAreNamedByBranch(t *testing.T) {
	bad := &probe{flush: func(context.Context) error { return errOne }}
	s := sink.Tee(quiet{}, sink.Named("file", bad), bad)
	err := s.(delivery.Flusher).Flush(t.Context())
	for _, want := range []string{"branch file: one", "branch 2: one"} {
		if !strings.Contains(text(err), want) {
			t.Errorf("got %q, want %q in it", text(err), want)
		}
	}
}

func TestNamedRefusesOddNames(t *testing.T) {
	for _, name := range []string{"", "a/b", "a b", "a\n"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q did not panic", name)
				}
			}()
			sink.Named(name, quiet{})
		}()
	}
}
