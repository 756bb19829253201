// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink"
)

// A gatedSink is a branch whose calls return when the gate opens.
type gatedSink struct {
	recordtest.Recorder
	entered chan struct{} // receives a value for each call that has begun
	gate    chan struct{}
}

func newGated() *gatedSink {
	g := &gatedSink{entered: make(chan struct{}, 1000), gate: make(chan struct{})}
	g.WriteWith(func(*nib.Record) error {
		g.entered <- struct{}{}
		<-g.gate
		return nil
	})
	return g
}

// A signal is a branch that sends each line on a channel.
type signal chan string

func (s signal) WriteRecord(r *nib.Record) error {
	s <- string(r.Line)
	return nil
}

// This test and those after it wait for the watch of the Tee, in real time: a
// few tenths of a second.
func TestTeeGivesTheLineToTheOthersWhileABranchHangs(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   int
	}{{"first", 0}, {"second", 1}, {"third", 2}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hang := newGated()
			got := signal(make(chan string, 10))
			branches := slices.Insert([]nib.Sink{got, got}, tt.at, nib.Sink(hang))
			s := sink.Tee(branches...)
			returned := make(chan error)
			go func() { returned <- s.WriteRecord(record(nib.LevelInfo, "{}")) }()
			for range 2 {
				if line := <-got; line != "{}\n" {
					t.Errorf("got %q", line)
				}
			}
			<-hang.entered
			select {
			case <-returned:
				t.Error("WriteRecord has returned while a branch has the record")
			default:
			}
			close(hang.gate)
			if err := <-returned; err != nil {
				t.Errorf("got error %v, want nil: all branches have the line in the end", err)
			}
			wantLines(t, &hang.Recorder, "the branch that hung", "{}")
			if len(got) > 0 {
				t.Errorf("a branch got the line twice")
			}
		})
	}
}

func TestTeeHelpersSurviveABranchThatPanics(t *testing.T) {
	t.Parallel()
	hang := newGated()
	got := signal(make(chan string, 10))
	s := sink.Tee(hang, writingWith(func(*nib.Record) error { panic("boom") }), got)
	returned := make(chan error)
	go func() { returned <- s.WriteRecord(record(nib.LevelInfo, "{}")) }()
	<-got
	close(hang.gate)
	if err := <-returned; !strings.Contains(text(err), "branch 1: panicked: boom") {
		t.Errorf("got error %v, want the panic of branch 1", err)
	}
}

func TestTeeErrorsAreNamedByBranch(t *testing.T) {
	fail := func(err error) nib.Sink { return writingWith(func(*nib.Record) error { return err }) }
	s := sink.Tee(fail(errOne), sink.Named("audit", fail(errTwo)), sink.Discard(), sink.Named("inner", sink.Tee(sink.Discard(), fail(errOne))))
	err := s.WriteRecord(record(nib.LevelInfo, "{}"))
	want := "nib/sink: branch 0: one\nnib/sink: branch audit: two\nnib/sink: branch inner: nib/sink: branch 1: one"
	if text(err) != want {
		t.Errorf("error\n got %q\nwant %q", text(err), want)
	}
	if !errors.Is(err, errOne) || !errors.Is(err, errTwo) {
		t.Errorf("got %v, which does not wrap the errors of both branches", err)
	}
}

func TestTeeErrorsOfAnyTypeAreNamed(t *testing.T) {
	var now error
	same := sink.Tee(sink.Discard(), writingWith(func(*nib.Record) error { return now }))
	for _, now = range []error{errOne, errOne, errTwo, numberError(1), numberError(1), numberError(2), errOne, sliceError{"a"}} {
		if got := text(same.WriteRecord(record(nib.LevelInfo, "{}"))); got != "nib/sink: branch 1: "+now.Error() {
			t.Errorf("of one branch after another: got %q, want %v", got, now)
		}
	}
	for _, err := range []error{sliceError{"a"}, structError{sliceError{"b"}}, numberError(3), new(pointerError)} {
		s := sink.Tee(sink.Discard(), writingWith(func(*nib.Record) error { return err }))
		for range 3 {
			if got := text(s.WriteRecord(record(nib.LevelInfo, "{}"))); got != "nib/sink: branch 1: "+err.Error() {
				t.Errorf("%T: got %q", err, got)
			}
		}
	}
}

type (
	sliceError   []string
	structError  struct{ error }
	numberError  int
	pointerError struct{}
)

func (e sliceError) Error() string    { return e[0] }
func (e numberError) Error() string   { return fmt.Sprint(int(e)) }
func (e *pointerError) Error() string { return "pointer" }

func TestTeeCountsPerBranch(t *testing.T) {
	n := 0
	bad := writingWith(func(*nib.Record) error {
		switch n++; n % 3 {
		case 0:
			return errOne
		case 1:
			panic("boom")
		}
		return nil
	})
	s := sink.Tee(sink.Discard(), sink.Named("bad", bad))
	for range 9 {
		_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
	}
	wantCounts(t, s, "nib_tee_lines_total", map[string]uint64{"0": 9, "bad": 3})
	wantCounts(t, s, "nib_tee_dropped_lines_total", map[string]uint64{
		"0 error": 0, "0 panic": 0, "0 stalled": 0, "bad error": 3, "bad panic": 3, "bad stalled": 0,
	})
}

func TestTeeCountsExactlyWithManyGoroutines(t *testing.T) {
	const goroutines, lines = 16, 500
	var a, c recordtest.Recorder
	s := sink.Tee(&a, newFailing(), &c)
	await.Goroutines(goroutines, func(int) {
		for range lines {
			_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
		}
	})
	const all = goroutines * lines
	wantCounts(t, s, "nib_tee_lines_total", map[string]uint64{"0": all, "1": 0, "2": all})
	if a.Len() != all || c.Len() != all {
		t.Errorf("got %d and %d lines, want %d", a.Len(), c.Len(), all)
	}
}

// wantCounts compares the counts of a metric by the values of their labels.
func wantCounts(t *testing.T, s nib.Sink, name string, want map[string]uint64) {
	t.Helper()
	got := map[string]uint64{}
	for m := range s.(metrics.Source).Metrics() {
		if m.Name != name {
			continue
		}
		var values []string
		for _, l := range m.Labels {
			values = append(values, l.Value)
		}
		got[strings.Join(values, " ")] = uint64(m.Value)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}
