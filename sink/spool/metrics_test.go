// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// valueOf returns the sum of the series of a name that have all labels.
func valueOf(source metrics.Source, name string, labels ...metrics.Label) (sum float64, series int) {
	for m := range source.Metrics() {
		if m.Name != name || !hasLabels(m.Labels, labels) {
			continue
		}
		sum += m.Value
		series++
	}
	return sum, series
}

func hasLabels(have, want []metrics.Label) bool {
	for _, w := range want {
		found := false
		for _, h := range have {
			found = found || h == w
		}
		if !found {
			return false
		}
	}
	return true
}

func TestMetricsOfTheBacklog(t *testing.T) {
	f := &far{}
	s := open(t, "", f, Config{})
	for n := range 3 {
		must(t, s.WriteRecord(record(nib.LevelWarn, n, 100)))
	}
	must(t, s.Flush(context.Background()))
	want := func(name string, want float64, labels ...metrics.Label) {
		t.Helper()
		if got, series := valueOf(s, name, labels...); got != want || series == 0 {
			t.Errorf("%s %v: got %v in %d series, want %v", name, labels, got, series, want)
		}
	}
	want("nib_spool_lines_total", 3)
	want("nib_spool_delivered_lines_total", 3, metrics.Label{Name: "level", Value: "warn"})
	want("nib_spool_delivered_lines_total", 0, metrics.Label{Name: "level", Value: "info"})
	want("nib_spool_pending_lines", 0)
	want("nib_spool_pending_bytes", 0)
	want("nib_spool_oldest_line_age_seconds", 0)
	want("nib_spool_dropped_lines_total", 0, metrics.Label{Name: "reason", Value: "full"})

	retried, up := make(chan struct{}), make(chan struct{})
	attempts := 0
	f.mu.Lock()
	f.do = func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if attempts++; attempts == 1 {
			return delivery.Result{}, errors.New("down"), true
		}
		close(retried)
		<-up
		return delivery.Result{Accepted: len(batch)}, nil, true
	}
	f.mu.Unlock()
	r := record(nib.LevelError, 3, 100)
	r.Time = time.Now().Add(-time.Hour).UnixNano()
	must(t, s.WriteRecord(r))
	<-retried
	want("nib_spool_delivery_failures_total", 1)
	want("nib_spool_pending_lines", 1)
	if got, _ := valueOf(s, "nib_spool_oldest_line_age_seconds"); got < 3600 || got > 7200 {
		t.Errorf("the oldest line is %v s old, want 3600", got)
	}
	if got, _ := valueOf(s, "nib_spool_pending_bytes"); got < 100 {
		t.Errorf("got %v pending bytes, want 100 at least", got)
	}
	close(up)
	must(t, s.Flush(context.Background()))
	want("nib_spool_oldest_line_age_seconds", 0)
	want("nib_spool_delivered_lines_total", 4)
}

func TestMetricsOfASpoolWithoutADestination(t *testing.T) {
	m := vfstest.NewMem(nil)
	c := Config{SegmentSize: segment.MinSize, Size: 3 * segment.MinSize, OnFull: []FullRule{{From: nib.LevelTrace, Do: ActionDropOld}}, fs: m}
	age := func(s *Sink, name string, low time.Duration) {
		t.Helper()
		got, series := valueOf(s, "nib_spool_oldest_line_age_seconds")
		if high := low + 30*time.Minute; series != 1 || got < low.Seconds() || got > high.Seconds() {
			t.Errorf("%s: the oldest line is %v s old in %d series, want %v", name, got, series, low.Seconds())
		}
	}
	write := func(s *Sink, n int, age time.Duration) {
		r := record(nib.LevelInfo, n, segment.MinSize/4)
		r.Time = time.Now().Add(-age).UnixNano()
		must(t, s.WriteRecord(r))
	}
	s := open(t, memDir, nil, c)
	if got, _ := valueOf(s, "nib_spool_oldest_line_age_seconds"); got != 0 {
		t.Errorf("no line is %v s old", got)
	}
	write(s, 0, 3*time.Hour)
	write(s, 1, 2*time.Hour)
	age(s, "written", 3*time.Hour)
	closeDown(t, s)

	s = open(t, memDir, nil, c)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Err: syscall.EIO})
	age(s, "unreadable", 0)
	heal()
	age(s, "of a former process", 3*time.Hour)
	heal = m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Err: syscall.EIO}) // it is not read again
	age(s, "of a former process", 3*time.Hour)
	heal()
	first := func() uint64 {
		s.chain.Lock()
		defer s.chain.Unlock()
		return s.chain.Links[0].Number
	}
	for n, before := 2, first(); first() == before; n++ {
		r := record(nib.LevelInfo, n, segment.MinSize/4)
		r.Time = time.Now().Add(-time.Hour).UnixNano()
		_ = s.WriteRecord(r) // some are dropped for lack of space
	}
	// It is the age of a notice if a line was dropped first.
	got, _ := valueOf(s, "nib_spool_oldest_line_age_seconds")
	if got <= 0 || got > (90*time.Minute).Seconds() {
		t.Errorf("after the oldest made room: the oldest line is %v s old, want 3600 at most", got)
	}
}

// TestMetricsOfAdoptedSlots checks that the process that delivers the lines of
// a dead process counts them as delivered, during the delivery and after it.
func TestMetricsOfAdoptedSlots(t *testing.T) {
	dir, f := spoolDir(t), &far{do: down}
	old := open(t, dir, f, shared(Config{Drain: time.Nanosecond, poll: time.Hour}))
	s := open(t, dir, f, shared(Config{}))
	for n := range 3 {
		r := record(nib.LevelError, n, 100)
		r.Time = time.Now().Add(-time.Hour).UnixNano()
		must(t, old.WriteRecord(r))
	}
	closeDown(t, old)
	await.Until(t, "the age of the lines is known", func() bool {
		age, _ := valueOf(s, "nib_spool_oldest_line_age_seconds")
		return age >= 3600
	})
	if got, _ := valueOf(s, "nib_spool_pending_bytes"); got < 300 {
		t.Errorf("got %v pending bytes, want 300 at least", got)
	}
	f.set(nil)
	delivered := func() float64 {
		lines, _ := valueOf(s, "nib_spool_delivered_lines_total", metrics.Label{Name: "level", Value: "error"})
		return lines
	}
	await.Until(t, "the lines are delivered", func() bool { return s.Stats().Delivered == 3 })
	if got := delivered(); got != 3 {
		t.Errorf("got %v delivered lines of level error, want 3", got)
	}
	await.Until(t, "the slot is deleted", func() bool { return len(slotsIn(t, dir)) == 1 })
	if got := delivered(); got != 3 {
		t.Errorf("got %v delivered lines of level error after the end of the slot, want 3", got)
	}
	if age, _ := valueOf(s, "nib_spool_oldest_line_age_seconds"); age != 0 {
		t.Errorf("nothing is pending, and the oldest line is %v s old", age)
	}
}
