// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// A moody destination is a log file that first runs the mood that a test sets.
// It keeps the numbers of the records that it accepted.
type moody struct {
	*file.Sink
	mu       sync.Mutex
	mood     func(ctx context.Context, batch []nib.Record) (use int, err error) // nil: take all
	attempts int
	last     uint64 // number of the last record
	odd      int    // records whose number was not above that
}

func (m *moody) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	m.mu.Lock()
	mood := m.mood
	m.attempts++
	m.mu.Unlock()
	use, err := len(batch), error(nil)
	if mood != nil {
		use, err = mood(ctx, batch)
	}
	if use == 0 {
		return delivery.Result{}, err
	}
	res, e := m.Sink.Deliver(ctx, batch[:use])
	for _, r := range batch[:res.Accepted] {
		if r.Seq <= m.last {
			m.odd++
		}
		m.last = r.Seq
	}
	return res, errors.Join(err, e)
}

func (m *moody) set(mood func(ctx context.Context, batch []nib.Record) (int, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mood = mood
}

func (m *moody) tries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.attempts
}

func refuse(context.Context, []nib.Record) (int, error) { return 0, errDown }

// A local is a service in the process of the test.
type local struct {
	*service
	p    place
	dest *moody
	l    *ledger
}

func newLocal(t testing.TB, p place, writers, pad int, c spool.Config) *local {
	t.Helper()
	f, err := file.Open(p.log, file.Config{})
	must(t, err)
	d := &moody{Sink: f}
	if c.OnFull == nil {
		c.OnFull = blocks // the disk may be busy
	}
	s, err := spool.Open(p.spool, d, c)
	must(t, err)
	v := &service{j: &job{Writers: writers, Pad: pad, Seed: seed}, board: newBoard(t, writers), spool: s, sink: s, file: f}
	return &local{v, p, d, newLedger()}
}

// judge ends the service and returns the verdict on the lines.
func (v *local) judge(t testing.TB) (verdict, spool.Stats) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // of a bubble, maybe
	defer cancel()
	must(t, v.spool.Flush(ctx), v.spool.Close(), v.file.Close())
	st := v.spool.Stats()
	checkAccounts(t, st)
	if v.dest.odd > 0 {
		t.Errorf("%d records came out of the order of their numbers", v.dest.odd)
	}
	v.l.enter(0, v.board)
	return v.l.judge(logText(t, v.p.log)), st
}

// TestDownForAnHour is row 12.
func TestDownForAnHour(t *testing.T) {
	r := begin(t, "12")
	if !bubbles {
		r.skip("virtual clocks need Go 1.25")
	}
	lines := count(20_000, 400_000)
	p := newPlace(t, shmDir(t))
	bubble(t, func(t *testing.T) {
		v := newLocal(t, p, 1, 300, spool.Config{SegmentSize: 1 << 20, Size: 1 << 30})
		v.dest.set(refuse)
		from := time.Now()
		v.j.Lines, v.j.Pace = lines, time.Hour/time.Duration(lines)
		v.logAll().Wait()
		took, attempts := time.Since(from), v.dest.tries()
		v.dest.set(nil)
		w, st := v.judge(t)
		if !w.clean() || st.Lost() > 0 {
			t.Errorf("%v (%s), %+v", w, w.example, st)
		}
		if attempts < 600 || attempts > 3000 {
			t.Errorf("%d attempts in an hour", attempts)
		}
		r.found("%v, %d attempts: %v", took.Round(time.Minute), attempts, w)
	})
	p = newPlace(t, shmDir(t))
	bubble(t, func(t *testing.T) { r.downWithLittleRoom(t, p, lines) })
}

// downWithLittleRoom has a spool that is much too small: dropped lines are
// counted exactly, by level and reason, and the others arrive in order.
func (r *run) downWithLittleRoom(t *testing.T, p place, lines int) {
	v := newLocal(t, p, 2, 300, spool.Config{SegmentSize: segment, Size: 8 * segment,
		OnFull: []spool.FullRule{{From: nib.LevelError, Do: spool.ActionDropOld}}})
	v.dest.set(refuse)
	var logged, refused [2]uint64 // infos, errors
	l := newLane(v.spool)
	pad := newPadding(seed, 300)
	kept := map[lineID]bool{}
	for n := range lines / 4 {
		e, id := l.log.Info(), lineID{0, 0, n}
		kind := n / 500 % 2 // in turns
		if kind == 1 {
			e, id.writer = l.log.Error(), 1
		}
		addLine(e, id, pad)
		logged[kind]++
		if l.err != nil {
			refused[kind]++
		} else {
			kept[id] = true
		}
		if n%100 == 0 {
			time.Sleep(time.Second)
		}
	}
	st := v.spool.Stats()
	dropped := [2]uint64{}
	for _, d := range st.Dropped {
		switch {
		case d.Reason == delivery.ReasonFull && d.Level == nib.LevelInfo:
			if dropped[0] += d.Lines; d.Lines != refused[0] {
				t.Errorf("%d infos were refused, %d are counted", refused[0], d.Lines)
			}
		case d.Reason == delivery.ReasonOldest && d.Level == nib.LevelInfo:
			dropped[0] += d.Lines
		case d.Reason == delivery.ReasonOldest: // errors, and notices
			dropped[1] += d.Lines
		default:
			t.Errorf("dropped: %+v", d)
		}
	}
	v.dest.set(nil)
	must(t, v.spool.Flush(context.Background()), v.spool.Close(), v.file.Close())
	delivered, last := inOrder(t, p, kept)
	all := logged[0] + logged[1]
	if end := v.spool.Stats(); end.Logged != all+end.Notices || end.Delivered+end.Lost() != end.Logged || last[1] < int(all)-1000 {
		t.Errorf("%d lines: %+v, the last error is %d", all, end, last[1])
	}
	r.found("with room for %d KiB: %d of %d lines dropped and counted by reason, %d delivered in order",
		8*segment>>10, dropped[0]+dropped[1], all, delivered)
}

// inOrder checks that a log has only lines that were accepted, in order, and
// returns how many, and the last one of each writer.
func inOrder(t *testing.T, p place, kept map[lineID]bool) (delivered int, last [2]int) {
	last = [2]int{-1, -1}
	for line := range linesOf(logText(t, p.log)) {
		id, ok := parse(line)
		if !ok {
			continue // a notice
		}
		if delivered++; !kept[id] || id.k <= last[id.writer] {
			t.Fatalf("%v: was accepted: %v, follows %d", id, kept[id], last[id.writer])
		}
		last[id.writer] = id.k
	}
	return delivered, last
}

// linesOf iterates over the lines of a text.
func linesOf(text []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			end := slices.Index(text, '\n')
			if end < 0 {
				end = len(text)
			}
			if !yield(text[:end]) {
				return
			}
			text = text[min(end+1, len(text)):]
		}
	}
}

// flaps are ways to be down.
var flaps = []func(rng *rand.Rand) func(ctx context.Context, batch []nib.Record) (int, error){
	func(*rand.Rand) func(context.Context, []nib.Record) (int, error) { return refuse },
	func(rng *rand.Rand) func(context.Context, []nib.Record) (int, error) { // takes a part, and breaks
		return func(_ context.Context, batch []nib.Record) (int, error) { return rng.IntN(len(batch) + 1), errDown }
	},
	func(rng *rand.Rand) func(context.Context, []nib.Record) (int, error) { // takes a part, and no more
		return func(_ context.Context, batch []nib.Record) (int, error) { return 1 + rng.IntN(len(batch)), nil }
	},
	func(rng *rand.Rand) func(context.Context, []nib.Record) (int, error) { // hangs
		return func(ctx context.Context, batch []nib.Record) (int, error) {
			select {
			case <-time.After(time.Duration(rng.Int64N(int64(30 * time.Second)))):
			case <-ctx.Done():
			}
			return 0, errDown
		}
	},
	func(*rand.Rand) func(context.Context, []nib.Record) (int, error) {
		return func(context.Context, []nib.Record) (int, error) { panic("the destination panics") }
	},
	func(*rand.Rand) func(context.Context, []nib.Record) (int, error) { // overwrites the lines it was given
		return func(_ context.Context, batch []nib.Record) (int, error) {
			clear(batch) // not the bytes that it refers to
			return 0, errDown
		}
	},
}

// flap returns one of them, with its own source of randomness, since another
// goroutine calls it.
func flap(rng *rand.Rand, n int) func(ctx context.Context, batch []nib.Record) (int, error) {
	return flaps[n](rand.New(rand.NewPCG(rng.Uint64(), 1)))
}

// TestFlap is row 13.
func TestFlap(t *testing.T) {
	r := begin(t, "13")
	if !bubbles {
		r.skip("virtual clocks need Go 1.25")
	}
	p := newPlace(t, shmDir(t))
	bubble(t, func(t *testing.T) {
		v := newLocal(t, p, 4, 400, spool.Config{SegmentSize: segment, Size: 64 << 20})
		v.j.Pace = time.Millisecond
		wg := v.logAll()
		const cycles = 200
		for n := range cycles {
			v.dest.set(flap(r.rng, n%len(flaps)))
			time.Sleep(time.Duration(r.rng.IntN(300)) * time.Millisecond)
			v.dest.set(nil)
			time.Sleep(time.Duration(r.rng.IntN(100)) * time.Millisecond)
		}
		v.board.words[atEnough].Store(1)
		wg.Wait()
		w, st := v.judge(t)
		if !w.clean() || st.Lost() > 0 {
			t.Errorf("%v (%s), %+v", w, w.example, st)
		}
		r.found("%d cycles, %d attempts, %d failed: %v", cycles, st.Attempts, st.Failures, w)
	})
}

// TestSlowDestination is row 14: two spools side by side, one of whose
// destinations takes 10 KB/s; the goroutines that log do not see a difference.
// The spools take turns, and the best round of each counts.
func TestSlowDestination(t *testing.T) {
	r := begin(t, "14")
	rounds, lines := count(8, 20), 20_000
	var both [2]*local
	for i := range both {
		both[i] = newLocal(t, newPlace(t, shmDir(t)), 1, 300, spool.Config{Size: 1 << 30, Drain: time.Millisecond})
	}
	both[1].dest.set(func(ctx context.Context, batch []nib.Record) (int, error) {
		select {
		case <-time.After(time.Duration(len(batch[0].Line)) * time.Second / 10_000):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		return 1, nil
	})
	best := [2]time.Duration{time.Hour, time.Hour}
	var heap [2]uint64
	took := make([]time.Duration, lines)
	most := 1.2
	if !full {
		most = 3 // CI runs other tests at the same time
	}
	slowed := func() bool { return float64(best[1]) > most*float64(best[0]) }
	for n := 0; n < rounds || slowed() && n < 5*rounds; n++ { // each contestant needs one round undisturbed
		for i, v := range both {
			l, pad := newLane(v.spool), newPadding(seed, 300)
			for k := range took {
				from := time.Now()
				logLine(l.log, 0, 0, n*lines+k, pad)
				took[k] = time.Since(from)
			}
			slices.Sort(took)
			best[i] = min(best[i], took[len(took)*99/100])
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		heap[min(n, 1)] = m.HeapAlloc
	}
	ratio := float64(best[1]) / float64(best[0])
	grown := (int64(heap[1]) - int64(heap[0])) >> 10
	pending := both[1].spool.Stats().Pending
	r.found("p99 %v and %v, ratio %.2f; %d lines pending; the heap has grown by %d KiB", best[0], best[1], ratio, pending, grown)
	if slowed() || grown > 4096 || pending == 0 {
		t.Error("the producer is slowed down, or memory grows")
	}
	for _, v := range both {
		if err := v.spool.Close(); err != nil && !errors.Is(err, spool.ErrPending) {
			t.Error(err)
		}
		must(t, v.file.Close())
		checkAccounts(t, v.spool.Stats())
	}
}

// TestClockJumps is row 20.
func TestClockJumps(t *testing.T) {
	r := begin(t, "20")
	var mu sync.Mutex
	now := time.Date(2026, 3, 29, 0, 59, 59, 0, time.UTC)
	jumps := []time.Duration{time.Hour, -time.Hour, 87660 * time.Hour, -87660 * time.Hour, 0, 0, time.Second, -time.Second,
		-24 * 365 * 150 * time.Hour, 24 * 365 * 145 * time.Hour}
	zones := []*time.Location{time.UTC, time.FixedZone("+14", 14*3600), time.FixedZone("-12", -12*3600)}
	n := 0
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		n++
		if n%10 == 0 {
			now = now.Add(jumps[n/10%len(jumps)])
		}
		return now.In(zones[n%len(zones)])
	}
	v := newLocal(t, newPlace(t, shmDir(t)), 8, 200, spool.Config{SegmentSize: segment, Size: 64 << 20})
	v.clock = clock
	v.j.Lines = count(1000, 20_000)
	v.logAll().Wait()
	w, st := v.judge(t)
	if !w.clean() || st.Lost() > 0 {
		t.Errorf("%v (%s), %+v", w, w.example, st)
	}
	r.found("%d jumps: %v, numbers ascend", n/10, w)
}
