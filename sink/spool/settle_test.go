// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestEveryLossSurvivesDeath kills a process that has lost lines, in each way,
// before a notice could report it: the next process counts them as inherited,
// once, and reports them in a notice.
func TestEveryLossSurvivesDeath(t *testing.T) {
	rejectAll := func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		res := delivery.Result{Accepted: len(batch)}
		for i := range batch {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i})
		}
		return res, nil, false
	}
	for _, c := range []struct {
		reason delivery.Reason
		do     func(context.Context, []nib.Record) (delivery.Result, error, bool)
		harm   func(t testing.TB, m *vfstest.Mem)
		log    func(t testing.TB, s *Sink)
		level  nib.Level
		lines  uint64
	}{
		{reason: delivery.ReasonRejected, do: rejectAll, level: nib.LevelInfo, lines: 10},
		{reason: delivery.ReasonDamaged, level: segment.LevelUnknown, lines: 1, harm: func(t testing.TB, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(1), func(b []byte) { b[segment.HeaderSize+5*segment.Align(segment.RecordHead+200)+segment.RecordHead+5]++ })
		}},
		{reason: delivery.ReasonTooLarge, level: nib.LevelWarn, lines: 2, log: func(t testing.TB, s *Sink) {
			for range 2 {
				if err := s.WriteRecord(record(nib.LevelWarn, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
					t.Errorf("got %v, want errTooLarge", err)
				}
			}
		}},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			m := memBacklog(t, 10, 200, SyncNever)
			if c.harm != nil {
				c.harm(t, m)
			}
			conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
			s := open(t, memDir, &far{do: c.do}, conf)
			if c.log != nil {
				c.log(t, s)
			}
			must(t, s.Flush(context.Background()))
			want := []delivery.Drop{{Reason: c.reason, Level: c.level, Lines: c.lines}}
			if got := checkIdentity(t, s).Dropped; !slices.Equal(got, want) {
				t.Fatalf("dropped %v, want %v", got, want)
			}
			conf.fs = crashSettled(t, m, s, vfstest.Everything)
			f := &far{}
			s = open(t, memDir, f, conf)
			must(t, s.Flush(context.Background()))
			if st := checkIdentity(t, s); !slices.Equal(st.Inherited, want) || st.Recovered != st.Notices-st.Logged || st.Lost() != 0 {
				t.Errorf("got %+v, want %v inherited, and nothing recovered", st, want)
			}
			for n := range 300 { // until there is a new segment, with the notice
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			must(t, s.Flush(context.Background()))
			if reported := linesReported(t, f); reported != c.lines {
				t.Errorf("notices report %d lines, want %d", reported, c.lines)
			}
		})
	}
}

// TestDamageIsCountedByOneProcess kills a process whose destination has failed
// after a damaged record: the next one does not count the record again.
func TestDamageIsCountedByOneProcess(t *testing.T) {
	m, f := memBacklog(t, 10, 200, SyncNever), &far{}
	edit(t, m, store.SegmentName(1), func(b []byte) { b[segment.HeaderSize+5*segment.Align(segment.RecordHead+200)+segment.RecordHead+5]++ })
	failed := make(chan struct{}, 1)
	f.set(func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if batch[0].Seq == 1 {
			return delivery.Result{Accepted: len(batch)}, nil, false
		}
		store.Signal(failed)
		return down(ctx, batch)
	})
	conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}}
	s := open(t, memDir, f, conf)
	<-failed
	if st := checkIdentity(t, s); st.Lost() != 1 || st.Delivered != 5 {
		t.Errorf("got %+v, want 5 lines delivered and 1 damaged", st)
	}
	conf.fs = m.CrashClone(vfstest.Everything)
	s = open(t, memDir, f, conf)
	if st := checkIdentity(t, s); st.Recovered != 4 || st.Lost() != 0 || len(st.Inherited) != 1 {
		t.Errorf("got %+v, want 4 lines recovered, and the damaged one inherited", st)
	}
}

// TestRejectedAreNotCountedAsDelivered checks the delivered counts by level for
// rejections anywhere in a batch.
func TestRejectedAreNotCountedAsDelivered(t *testing.T) {
	levels := map[nib.Level]string{nib.LevelTrace: "trace", nib.LevelDebug: "debug", nib.LevelInfo: "info", nib.LevelWarn: "warn", nib.LevelError: "error"}
	for _, refused := range [][]nib.Level{nil, {nib.LevelTrace}, {nib.LevelDebug, nib.LevelWarn}, {nib.LevelError}, {nib.LevelTrace, nib.LevelInfo, nib.LevelError}} {
		before := open(t, filepath.Join(t.TempDir(), "spool"), nil, Config{SegmentSize: segment.MinSize})
		for l := nib.LevelTrace; l <= nib.LevelError; l += 4 {
			must(t, before.WriteRecord(record(l, int(l), 100)))
		}
		must(t, before.Close())
		f := &far{do: func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			res := delivery.Result{Accepted: len(batch)}
			for i, r := range batch {
				if slices.Contains(refused, r.Level) {
					res.Rejected = append(res.Rejected, delivery.Rejection{Index: i})
				}
			}
			return res, nil, false
		}}
		s := open(t, before.chain.dir.Path, f, Config{SegmentSize: segment.MinSize})
		must(t, s.Flush(context.Background()))
		if n := s.Stats().Attempts; n != 1 {
			t.Fatalf("there were %d batches, want 1", n)
		}
		for l, name := range levels {
			want := 1.0
			if slices.Contains(refused, l) {
				want = 0
			}
			if got, _ := valueOf(s, "nib_spool_delivered_lines_total", metrics.Label{Name: "level", Value: name}); got != want {
				t.Errorf("%v rejected: got %v lines of level %s delivered, want %v", refused, got, name, want)
			}
		}
	}
}
