// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// deliverAll delivers records until all are settled, as a spool does.
func deliverAll(t testing.TB, s *Sink, batch ...nib.Record) {
	t.Helper()
	for idle := 0; len(batch) > 0 && idle < 3; idle++ {
		res, err := s.Deliver(context.Background(), batch)
		must(t, err)
		if batch = batch[res.Accepted:]; s.SyncMark() {
			s.Mark()
		}
	}
	if len(batch) > 0 {
		t.Fatalf("%d records are not settled", len(batch))
	}
}

// fork returns the destination of another spool for the file of s.
func fork(t testing.TB, s *Sink) *Sink {
	t.Helper()
	f, err := s.Fork()
	must(t, err)
	t.Cleanup(func() { f.(*Sink).Close() })
	f.(*Sink).Mark()
	return f.(*Sink)
}

// wantTaken calls Resume on a new sink, checks its result, and returns the
// sink.
func wantTaken(t testing.TB, m vfs.FS, clock *testClock, c Config, mark []byte, want int, batch ...nib.Record) *Sink {
	t.Helper()
	s := openMem(t, m, clock, c)
	n, err := s.Resume(context.Background(), mark, batch)
	if must(t, err); n != want {
		t.Errorf("got %d taken, want %d", n, want)
	}
	return s
}

// Records of the process that dies.
var recordA, recordB, recordC = *deskRecord(0), *deskRecord(1), *deskRecord(2)

// identicalCases are the steps of that process and another one before that.
// want is how many of the last two records the next process finds.
var identicalCases = []struct {
	name string
	do   func(t *testing.T, s, other *Sink) (mark []byte)
	want int
}{
	{"nothing begun", func(t *testing.T, s, other *Sink) []byte {
		deliverAll(t, s, recordA)
		mark := s.Mark()
		deliverAll(t, other, recordB)
		return mark
	}, 0},
	{"nothing ever delivered", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, other, recordB)
		return mark
	}, 0},
	{"one written, behind it another's", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, s, recordB)
		deliverAll(t, other, recordC)
		return mark
	}, 1},
	{"one written, behind it two batches of another", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, s, recordB)
		deliverAll(t, other, recordC)
		deliverAll(t, other, recordC)
		return mark
	}, 1},
	{"one written, before it another's", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, other, recordB, recordC)
		deliverAll(t, s, recordB)
		return mark
	}, 1},
	{"all written, between another's", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, other, recordB)
		deliverAll(t, s, recordB, recordC)
		deliverAll(t, other, recordB, recordC)
		return mark
	}, 2},
	{"one written, behind it another's that cannot see the size", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, s, recordB)
		s.w.fs.(*vfstest.Mem).Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Times: 1, Err: errDead})
		deliverAll(t, other, recordC)
		return mark
	}, 1},
	{"cut off within the line, which another one ends", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		dieIn(t, s, 9, recordB)
		deliverAll(t, other, recordB)
		return mark
	}, 0},
	{"rotated by another", func(t *testing.T, s, other *Sink) []byte {
		mark := s.Mark()
		deliverAll(t, s, recordB)
		must(t, other.Rotate())
		deliverAll(t, other, recordC)
		return mark
	}, 1},
	{"rotated by itself", func(t *testing.T, s, other *Sink) []byte {
		deliverAll(t, s, recordA)
		must(t, s.Rotate())
		res, err := s.Deliver(context.Background(), []nib.Record{recordB})
		if must(t, err); res.Accepted > 0 {
			t.Fatalf("got %+v, before the mark was stored", res)
		}
		mark := s.Mark()
		deliverAll(t, other, recordB)
		return mark
	}, 0},
	{"plain line before", func(t *testing.T, s, other *Sink) []byte {
		deliverAll(t, s, recordA)
		mark := s.Mark()
		mustWrite(t, other, &recordB)
		return mark
	}, 0},
}

// TestIdenticalLineOfAnotherSpoolIsNotTakenForOurs has a process die with
// unwritten records, and another one deliver a line identical to one of them.
func TestIdenticalLineOfAnotherSpoolIsNotTakenForOurs(t *testing.T) {
	for _, test := range identicalCases {
		t.Run(test.name, func(t *testing.T) {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{})
			s.Mark()
			other := fork(t, s)
			mark := test.do(t, s, other)
			image := m.CrashClone(vfstest.Everything)
			next := wantTaken(t, image, clock, Config{}, mark, test.want, recordB, recordC)
			next.Mark()
			deliverAll(t, next, []nib.Record{recordB, recordC}[test.want:]...)
			text := memAll(t, image)
			got, want := strings.Count(text, string(recordB.Line))+strings.Count(text, string(recordC.Line)), 2+int(other.Stats().Lines)
			if got != want {
				t.Errorf("got %d lines, want the 2 of the process that died and %d of the other:\n%s", got, want-2, text)
			}
		})
	}
}

// dieIn delivers, and the process dies during the write, after the given bytes.
func dieIn(t testing.TB, s *Sink, bytes int, batch ...nib.Record) {
	t.Helper()
	m := s.w.fs.(*vfstest.Mem)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Times: 1, Short: bytes})
	healRest := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: errDead})
	if _, err := s.Deliver(context.Background(), batch); err == nil {
		t.Fatal("the write has not failed")
	}
	heal()
	healRest()
	must(t, s.w.file.Close())
}

var errDead = errors.New("the process is dead")

// A peer is one of several spools that deliver to a file.
type peer struct {
	t       testing.TB
	open    func() *Sink
	s       *Sink // nil: no process has it open
	old     bool  // records of an earlier process are to be searched for
	begun   bool
	settled int
	mark    []byte
	point   func() // called before a cursor is written
	rng     *rand.Rand
}

const peerLines = 14

// peerRecord returns a record of one line or of several.
func peerRecord(n int) *nib.Record {
	r := deskRecord(n)
	for i := range n % 3 {
		r.Line = fmt.Appendf(r.Line, "    at main.go:%d.%d\n", n, i)
	}
	return r
}

func (p *peer) done() bool { return p.settled == peerLines && p.s != nil }

func (p *peer) batch() []nib.Record {
	batch := make([]nib.Record, min(1+p.rng.IntN(4), peerLines-p.settled))
	for i := range batch {
		batch[i] = *peerRecord(p.settled + i)
	}
	return batch
}

func (p *peer) note(n int) {
	mark := p.s.Mark()
	p.point()
	p.settled, p.mark = p.settled+n, mark
}

// step does a start, or an attempt to deliver.
func (p *peer) step() {
	ctx := context.Background()
	if p.s == nil {
		p.s = p.open()
	}
	for p.old && p.settled < peerLines {
		batch := p.batch()
		n, err := p.s.Resume(ctx, p.mark, batch)
		must(p.t, err)
		if p.old = n == len(batch); n > 0 {
			p.note(n)
		}
	}
	if !p.begun {
		p.old = false
		p.note(0)
		p.begun = true
	}
	if p.settled == peerLines {
		return
	}
	res, err := p.s.Deliver(ctx, p.batch())
	must(p.t, err)
	if res.Accepted > 0 {
		p.note(res.Accepted)
	}
	if p.s.SyncMark() {
		p.note(0)
	}
}

// die leaves the files of a dead process, which no process has open.
func (p *peer) die() {
	if p.s != nil && p.s.w.file != nil {
		_ = p.s.w.file.Close()
		p.s.dest.claims.Close()
	}
	p.s, p.old, p.begun = nil, true, false
}

// TestIdenticalLinesOfSpoolsKilledAtEachCall has two spools deliver the same
// lines to one file. A process is killed before each operation on the file
// system, and then up to two more, some operations later. The file has each
// line twice.
func TestIdenticalLinesOfSpoolsKilledAtEachCall(t *testing.T) {
	kills, selected := 0, seed.Sample(t, 1, 2)
	for seed := range uint64(seed.Times(40, 3, 1)) {
		for at := 0; ; at++ {
			if !selected() {
				continue
			}
			k := killAt(t, at, seed)
			if kills += k; t.Failed() {
				t.Fatalf("killed before operation %d, seed %d", at, seed)
			}
			if k == 0 {
				break
			}
		}
	}
	t.Logf("%d kills: each line is there as often as it was logged", kills)
}

// killAt kills one of two spools before the operation with number at, and
// returns the number of kills.
func killAt(t *testing.T, at int, seed uint64) (kills int) {
	m, clock := newMem(t)
	clock.steps = time.Millisecond
	rng := rand.New(rand.NewPCG(seed, uint64(at)))
	armed := false
	strike := func() {
		if !armed {
			return
		}
		if at--; at == -1 {
			kills++
			if at = 1 + rng.IntN(80); kills == 3 {
				at = 1 << 30
			}
			panic(errDead)
		}
	}
	for skip := range 12 {
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Skip: 2 * skip, Times: 1, Short: 1 + 17*skip, Reached: strike})
	}
	for _, op := range vfstest.Ops {
		m.Fail(vfstest.Fault{Op: op, Reached: strike})
	}
	peers := [2]*peer{}
	for i := range peers {
		peers[i] = &peer{t: t, rng: rng, point: strike, open: func() *Sink { return openMem(t, m, clock, Config{MaxSize: 900}) }}
	}
	for !peers[0].done() || !peers[1].done() {
		i := rng.IntN(2)
		func() {
			defer func() {
				armed = false
				if p := recover(); p != nil {
					if p != errDead {
						panic(p)
					}
					peers[i].die()
				}
			}()
			armed = true
			peers[i].step()
		}()
	}
	must(t, peers[0].s.Close(), peers[1].s.Close())
	text := memAll(t, m)
	for n := range peerLines {
		got := 0
		for i := range text {
			if (i == 0 || text[i-1] == '\n') && strings.HasPrefix(text[i:], string(peerRecord(n).Line)) {
				got++
			}
		}
		if got != 2 {
			t.Errorf("record %d is there %d times, want 2:\n%s", n, got, text)
		}
	}
	return kills
}
