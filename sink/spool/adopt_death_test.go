// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A ledger is a destination that recognises the records that it has, by their
// identity, and rejects those that refuse chooses.
type ledger struct {
	mu     sync.Mutex
	have   map[[2]uint64]string
	refuse func(r *nib.Record) bool
}

func (l *ledger) Deliver(_ context.Context, b []nib.Record) (delivery.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	res := delivery.Result{Accepted: len(b)}
	for i := range b {
		r := &b[i]
		if l.refuse != nil && l.refuse(r) {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errPicky})
			continue
		}
		l.have[[2]uint64{r.Spool, r.Seq}] = string(r.Line)
	}
	return res, nil
}

// setRefuse sets which records the ledger rejects; nil for none.
func (l *ledger) setRefuse(refuse func(r *nib.Record) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = refuse
}

func newLedger() *ledger { return &ledger{have: map[[2]uint64]string{}} }

// clone returns a ledger with the same records, which accepts everything. The
// caller holds l.mu.
func (l *ledger) clone() *ledger { return &ledger{have: maps.Clone(l.have)} }

func isNotice(line []byte) bool { return bytes.Contains(line, []byte("lines lost: the spool")) }

// isOfRejected reports whether r is the notice for one destination.
func isOfRejected(r *nib.Record) bool {
	return isNotice(r.Line) && bytes.Contains(r.Line, []byte(delivery.ReasonRejected))
}

// refuseEvery returns a refuse that rejects the lines with the multiples of k.
func refuseEvery(t *testing.T, k int) func(*nib.Record) bool {
	return func(r *nib.Record) bool { return !isNotice(r.Line) && numberOf(t, r.Line)%k == 0 }
}

// check compares the lines that are missing of n with what the notices report.
func (l *ledger) check(t *testing.T, name string, n int) {
	t.Helper()
	reported, lines, seen := l.count(t)
	if missing := n - seen; reported != missing || lines != seen {
		t.Errorf("%s: %d lines, %d of them once, of %d; notices report %d, want %d",
			name, lines, seen, n, reported, missing)
	}
}

// count returns how many lines the notices report, and how many lines there
// are, twice or once.
func (l *ledger) count(t *testing.T) (reported, lines, once int) {
	t.Helper()
	seen := map[int]bool{}
	for _, line := range l.have {
		if isNotice([]byte(line)) {
			var notice struct{ Levels struct{ Info int } }
			must(t, json.Unmarshal([]byte(line), &notice))
			reported += notice.Levels.Info
			continue
		}
		seen[numberOf(t, []byte(line))] = true
		lines++
	}
	return reported, lines, len(seen)
}

// lossySlot leaves in memDir the slots of two dead processes. The second one
// has lines that the first of its destinations has got or rejected, a damaged
// line, and counts of dropped lines in its header. It returns how many lines
// were logged.
func lossySlot(t *testing.T, m *vfstest.Mem, first, second *ledger) (n int) {
	t.Helper()
	empty := open(t, memDir, nil, heir(m, time.Hour))
	c := heir(m, time.Hour)
	c.RejectedSize, c.Drain = -1, 1
	first.setRefuse(refuseEvery(t, 5))
	f := &far{do: down}
	s := open(t, memDir, first, both(f, c))
	for ; n < 30; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 3000)))
	}
	for of(t, s.Stats(), "destination").Pending > 0 {
		await.Sleep(time.Second)
	}
	second.setRefuse(refuseEvery(t, 7))
	closeDown(t, s)
	c.Also, c.Shared = nil, false
	path := filepath.Join(memDir, store.SlotName(2))
	s = open(t, path, nil, c)
	for ; n < 50; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 3000)))
	}
	for ; n < 53; n++ { // too large
		if s.WriteRecord(record(nib.LevelInfo, n, 2*segment.MinSize)) == nil {
			t.Fatal("want an error")
		}
	}
	must(t, s.Close(), empty.Close())
	last := store.SegmentName(s.chain.active.Load().Number)
	edit(t, m, filepath.Join(store.SlotName(2), last), func(b []byte) {
		b[segment.HeaderSize+segment.RecordHead+5]++
	})
	return n
}

// TestDeathDuringAnAdoption takes an image of the files before each call that
// changes one, while a process delivers a slot with losses of all kinds: the
// process after a death at any of these points announces to each destination
// what it has not got, once, and deletes the slot.
func TestDeathDuringAnAdoption(t *testing.T) {
	type image struct {
		files         *vfstest.Mem
		first, second *ledger
	}
	var images []image
	lines := 0
	c := heir(nil, time.Second)
	c.RejectedSize, c.Drain = -1, time.Second
	adopt := func(t *testing.T, m *vfstest.Mem, first, second *ledger, name string) {
		c.fs = m
		s := open(t, memDir, first, both(second, c))
		await.Sleep(10 * time.Second)
		must(t, s.Flush(context.Background()))
		if got := slotsOf(t, m); len(got) != 1 {
			t.Errorf("%s: got the slots %q, want one", name, got)
		}
		must(t, s.Close())
		first.check(t, name+", first", lines)
		second.check(t, name+", second", lines)
	}
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		first, second := newLedger(), newLedger()
		lines = lossySlot(t, m, first, second)
		var mu sync.Mutex
		for _, op := range changes {
			m.Fail(vfstest.Fault{Op: op, Path: "*", Reached: func() {
				for _, l := range []*sync.Mutex{&mu, &first.mu, &second.mu} {
					l.Lock() // nothing arrives between the files and the ledgers
					defer l.Unlock()
				}
				images = append(images, image{
					m.CrashClone(vfstest.Everything), first.clone(), second.clone(),
				})
			}})
		}
		adopt(t, m, first, second, "without a death")
	})
	if len(images) < 50 {
		t.Fatalf("got %d images, want one for each change", len(images))
	}
	for i, x := range images {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { adopt(t, x.files, x.first, x.second, "death") })
		})
	}
}

// TestNoticeOfASlotIsRepeated has a destination that refuses its notice of a
// slot for ten minutes, or no room for it: the slot stays, and the losses are
// announced in the end. A refused notice is repeated once a minute.
func TestNoticeOfASlotIsRepeated(t *testing.T) {
	for _, refused := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			first, second := newLedger(), newLedger()
			lines := lossySlot(t, m, first, second)
			heal := func() { first.setRefuse(nil) }
			if refused {
				first.setRefuse(isOfRejected)
			} else {
				first.setRefuse(nil)
				heal = m.Fail(vfstest.Fault{
					Op: vfstest.OpCreate, Path: "*" + store.MadeSuffix, Skip: 1,
					Err: syscall.ENOSPC,
				})
			}
			c := heir(m, time.Second)
			c.RejectedSize, c.Drain = -1, time.Second
			s := open(t, memDir, first, both(second, c))
			await.Sleep(10 * time.Minute)
			st := s.Stats()
			if names := slotsOf(t, m); len(names) != 2 {
				t.Errorf("got the slots %q, want two", names)
			}
			if refused && (st.Lost() < 8 || st.Lost() > 14) || !refused && st.Errors == 0 {
				t.Errorf("%d lines were lost, with %d errors; want about 10 notices, or errors",
					st.Lost(), st.Errors)
			}
			heal()
			await.Sleep(2 * time.Minute)
			if names := slotsOf(t, m); len(names) != 1 {
				t.Errorf("got the slots %q, want one", names)
			}
			must(t, s.Close())
			first.check(t, "first", lines)
			second.check(t, "second", lines)
		})
	}
}
