// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// streams are four destinations of one spool that settle lines at different
// speeds, and what they have got.
type streams struct {
	live, slow, dead, picky *far
	turn                    chan struct{} // lets slow accept one record
	mended                  chan struct{}
}

func newStreams() *streams {
	x := &streams{&far{}, &far{}, &far{}, &far{}, make(chan struct{}, 1), make(chan struct{})}
	x.slow.set(func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
		select {
		case <-x.turn:
			return delivery.Result{Accepted: 1}, nil, false
		case <-x.mended:
			return delivery.Result{Accepted: 1}, nil, false
		case <-ctx.Done():
			return delivery.Result{}, ctx.Err(), true
		}
	})
	x.dead.set(down)
	x.picky.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		res := delivery.Result{Accepted: len(batch)}
		for i, r := range batch {
			if r.Level == nib.LevelInfo && r.Time%7 == 0 {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errPicky})
			}
		}
		return res, nil, false
	})
	return x
}

var errPicky = errors.New("a multiple of seven")

// mend lets all destinations accept everything, except picky.
func (x *streams) mend() {
	x.slow.set(nil)
	close(x.mended)
	x.dead.set(nil)
}

func (x *streams) open(t *testing.T, dir string, c Config) *Sink {
	c.Name, c.SegmentSize, c.OnError, c.RejectedSize = "live", segment.MinSize, func(error) {}, -1
	c.Also = []NamedDestination{{"slow", x.slow}, {"dead", x.dead}, {"picky", x.picky}}
	return open(t, dir, x.live, c)
}

// write logs lines from number n on, slowly enough for live and picky. It
// returns the next number.
func (x *streams) write(t *testing.T, s *Sink, n, lines int) int {
	for end := n + lines; n < end; n++ {
		_ = s.WriteRecord(record(nib.LevelInfo, n, 1000)) // dropped lines are announced
		if n%3 == 0 {
			store.Signal(x.turn)
		}
		isBehind := func(name string) bool { return of(t, s.Stats(), name).Pending > 0 }
		for n%10 == 0 && (isBehind("live") || isBehind("picky")) {
			s.chain.poke()
		}
	}
	return n
}

// check compares, for each destination, the lines that are missing in its
// stream with the count that its notices report. ownLost has the notices that
// it has lost.
func (x *streams) check(t *testing.T, logged int, ownLost map[string]uint64) {
	t.Helper()
	all := map[string]*far{"live": x.live, "slow": x.slow, "dead": x.dead, "picky": x.picky}
	for name, f := range all {
		got := map[int]bool{}
		for _, line := range f.lines {
			var r struct{ N int }
			must(t, json.Unmarshal(line, &r))
			if got[r.N] {
				t.Errorf("%s: line %d came twice", name, r.N)
			}
			got[r.N] = true
		}
		var lines, notices uint64
		for _, line := range f.notices {
			var r struct {
				Dropped uint64
				Levels  struct{ Info, Warn uint64 }
			}
			must(t, json.Unmarshal(line, &r))
			lines, notices = lines+r.Levels.Info, notices+r.Levels.Warn
		}
		if missing := uint64(logged - len(got)); lines != missing || notices != ownLost[name] {
			t.Errorf("%s: notices report %d lines and %d notices as lost; %d and %d are missing",
				name, lines, notices, missing, ownLost[name])
		}
	}
}

// noticesLost adds the notices that each destination has lost: the lines of the
// test have another level.
func noticesLost(sum map[string]uint64, st Stats) {
	for _, d := range st.Destinations {
		for _, x := range d.Dropped {
			if x.Level == nib.LevelWarn {
				sum[d.Name] += x.Lines
			}
		}
	}
}

// TestNoticesReportWhatTheirStreamLacks has destinations that are dead, slow,
// and refuse lines, besides a live one, over two restarts: what the notices in
// each stream report as lost is what is missing there.
func TestNoticesReportWhatTheirStreamLacks(t *testing.T) {
	for _, policy := range seed.Some(t, 1, [][]FullRule{
		{{nib.LevelTrace, ActionDropOld, 0}},
		nil, // ActionDropNew
		{{nib.LevelTrace, ActionBlock, 1}},
	}) {
		dirs(t, func(t *testing.T, dir string) {
			x, n, ownLost := newStreams(), 0, map[string]uint64{}
			c := Config{Size: 5 * segment.MinSize, OnFull: policy, Drain: 1}
			rounds := 3
			if dir == "" {
				rounds = 1
			}
			for round := range rounds {
				s := x.open(t, dir, c)
				n = x.write(t, s, n, 600)
				if round == rounds-1 {
					x.mend()
					must(t, s.Flush(context.Background()))
					for range 3 { // each segment begins with the notices that are due
						n = x.write(t, s, n, 64)
						must(t, s.Flush(context.Background()))
					}
					n = finish(t, x, s, n)
				}
				closeDown(t, s)
				noticesLost(ownLost, s.Stats())
			}
			x.check(t, n, ownLost)
		})
	}
}

// finish logs lines until nothing is left to announce.
func finish(t *testing.T, x *streams, s *Sink, n int) int {
	x.picky.set(nil)
	for range 2 {
		n = x.write(t, s, n, 64)
		must(t, s.Flush(context.Background()))
	}
	return n
}

// TestCrashKeepsAnnouncements takes an image of the files before each change of
// one while segments are dropped for two destinations. The first has settled a
// part of the lines. The process after a crash at any of these points reports
// to each what its stream lacks.
func TestCrashKeepsAnnouncements(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	first, second := &far{}, &far{do: down}
	c := Config{Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
		OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}
	s := open(t, memDir, first, both(second, c))
	n := 0
	write := func(s *Sink, lines int) {
		for end := n + lines; n < end; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
	}
	write(s, 90)
	for of(t, s.Stats(), "destination").Pending > 0 {
		s.chain.poke()
	}
	closeDown(t, s) // the cursor has what the first has got
	first.set(down)
	s = open(t, memDir, first, both(second, c))
	var mu sync.Mutex
	var images []*vfstest.Mem
	selected := seed.Sample(t, 3, 6)
	for _, op := range []vfstest.Op{vfstest.OpWrite, vfstest.OpRemove, vfstest.OpRename} {
		m.Fail(vfstest.Fault{Op: op, Path: "*", Reached: func() {
			mu.Lock()
			defer mu.Unlock()
			if selected() {
				images = append(images, m.CrashClone(vfstest.Everything))
			}
		}})
	}
	write(s, 300)
	closeDown(t, s)
	// How many are dropped depends on the segments that were ready in time.
	if st := s.Stats(); st.Lost() == 0 {
		t.Fatalf("got %+v, want segments dropped", st)
	}
	for i, image := range images {
		c.fs, c.Size = image, 64*segment.MinSize
		got := [2]*far{{lines: slices.Clone(first.lines)}, {}}
		s := open(t, memDir, got[0], both(got[1], c))
		must(t, s.Flush(context.Background()))
		n = 0
		for _, line := range got[1].lines {
			n = max(n, numberOf(t, line)+1)
		}
		write(s, 64) // fills the segment
		must(t, s.Flush(context.Background()))
		write(s, 64)
		must(t, s.Flush(context.Background()))
		for j, f := range got {
			checkAnnounced(t, fmt.Sprintf("image %d: destination %d", i, j), f, n)
		}
		closeDown(t, s)
	}
}

// numberOf returns the number of a line of record.
func numberOf(t *testing.T, line []byte) int {
	t.Helper()
	var r struct{ N int }
	must(t, json.Unmarshal(line, &r))
	return r.N
}

// checkAnnounced compares what is missing of n lines in the stream of f with
// what its notices report.
func checkAnnounced(t *testing.T, name string, f *far, n int) {
	t.Helper()
	reported, seen := uint64(0), map[int]bool{}
	for _, line := range f.notices {
		var notice struct{ Levels struct{ Info uint64 } }
		must(t, json.Unmarshal(line, &notice))
		reported += notice.Levels.Info
	}
	for _, line := range f.lines {
		seen[numberOf(t, line)] = true
	}
	if missing := uint64(n - len(seen)); reported != missing || len(seen) != len(f.lines) {
		t.Errorf("%s got %d lines, %d of them once, of %d; notices report %d",
			name, len(f.lines), len(seen), n, reported)
	}
}

// TestRejectedNoticeIsRepeated has a destination that rejects the first notice,
// which is for all destinations: it gets the counts again, and the others do
// not. Then the notice is of an earlier process.
func TestRejectedNoticeIsRepeated(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		for _, earlier := range []bool{false, true} {
			if dir == "" && earlier {
				continue // nothing is left in memory
			}
			first, second, rejected := &far{do: down}, &far{do: down}, 0
			c := both(second, Config{Drain: 1, OnError: func(error) {}})
			s := open(t, dir, first, c)
			for range 5 {
				err := s.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize))
				if !errors.Is(err, errTooLarge) {
					t.Fatal(err)
				}
			}
			n := 0
			write := func() {
				for end := n + 100; n < end; n++ {
					must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
				}
			}
			write() // the second segment begins with the notice
			if earlier {
				closeDown(t, s)
				s = open(t, dir, first, c)
			}
			second.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				res := delivery.Result{Accepted: len(batch)}
				for i, r := range batch {
					if r.Level == nib.LevelWarn && rejected == 0 {
						rejected++
						res.Rejected = []delivery.Rejection{{Index: i, Reason: errPicky}}
					}
				}
				return res, nil, false
			})
			first.set(nil)
			must(t, s.Flush(context.Background()))
			for range 2 {
				write()
				must(t, s.Flush(context.Background()))
			}
			// 5, and then with the notice that was rejected, which far keeps, too
			got := [2]uint64{linesReported(t, first), linesReported(t, second)}
			if want := [2]uint64{5, 5 + 5 + 1}; got != want || rejected != 1 {
				t.Errorf("earlier process %v: notices report %v lines, want %v; %d rejected",
					earlier, got, want, rejected)
			}
			must(t, s.Close())
		}
	})
}

// TestRejectedNoticeIsReadWithoutTheLock has a destination that rejects the
// notice of an earlier process, and a disk that does not return from reading
// it: calls do not wait for the disk.
func TestRejectedNoticeIsReadWithoutTheLock(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{}
	reached, hold := make(chan struct{}, 1), make(chan struct{})
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, slow: eventTimeout}
	s := open(t, memDir, nil, conf)
	if err := s.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize)); err == nil {
		t.Fatal("got no error for a line that is too large")
	}
	for n := range 100 { // the second segment begins with the notice
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
	}
	must(t, s.Close())
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		res := delivery.Result{Accepted: len(batch)}
		for i, r := range batch {
			if r.Level == nib.LevelWarn {
				f.set(nil)
				res.Rejected = []delivery.Rejection{{Index: i, Reason: errPicky}}
				m.Fail(vfstest.Fault{
					Op: vfstest.OpRead, Path: store.SegmentName(2), Times: 1, Hold: hold,
					Reached: func() { store.Signal(reached) },
				})
			}
		}
		return res, nil, false
	})
	conf.OnError = func(error) {}
	s = open(t, memDir, f, conf)
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	<-reached
	await.Until(t, "the lock is free while the file is read", s.chain.TryLock)
	s.chain.Unlock()
	release()
	for range 2 {
		must(t, s.Flush(context.Background()))
		for n := range 100 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
	}
	must(t, s.Flush(context.Background()))
	// 1, and then with the notice that was rejected, which far keeps, too
	if got := linesReported(t, f); got != 1+1+1 {
		t.Errorf("notices report %d lines, want %d", got, 1+1+1)
	}
	must(t, s.Close())
}
