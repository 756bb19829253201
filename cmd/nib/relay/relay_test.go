// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink/spool"
)

// A place is where records arrive, over all destinations that are opened for
// it.
type place struct {
	recordtest.Recorder
	mu   sync.Mutex
	open int
}

// refusing returns a place that accepts records that refuse does not reject,
// and nothing if it returns an error.
func refusing(refuse func(batch []nib.Record) (delivery.Result, error)) *place {
	p := new(place)
	p.DeliverWith(func(_ context.Context, batch []nib.Record) (delivery.Result, error) {
		res, err := refuse(batch)
		if err == nil && len(res.Rejected) == 0 {
			res.Accepted = len(batch)
		}
		return res, err
	})
	return p
}

func (p *place) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	return nil
}

// A reports records the reports, and closes seen when one contains wants.
type reports struct {
	mu    sync.Mutex
	text  strings.Builder
	wants string
	seen  chan struct{}
	once  sync.Once
}

func newReports(wants string) *reports { return &reports{wants: wants, seen: make(chan struct{})} }

func (t *reports) report(dir, format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := filepath.Base(dir) + ": " + fmt.Sprintf(format, values...) + "\n"
	t.text.WriteString(line)
	if t.wants != "" && strings.Contains(line, t.wants) {
		t.once.Do(func() { close(t.seen) })
	}
}

func (t *reports) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func config(root string, p *place, t *reports) Config {
	return Config{
		Root: root, Once: true, DeliverTimeout: time.Minute, Poll: time.Millisecond, Progress: time.Hour, Report: t.report,
		Targets: []Target{{Text: "far", Open: p.opened}},
	}
}

func (p *place) opened([]byte) (delivery.Destination, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open++
	return p, nil
}

// wait is for disks that are slow.
var wait = []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}}

// openSpool opens a spool, and skips the test on systems that have none.
func openSpool(t *testing.T, dir string, to delivery.Destination, c spool.Config) *spool.Sink {
	t.Helper()
	s, err := spool.Open(dir, to, c)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	return s
}

// left makes a spool with some lines, and leaves it open.
func left(t *testing.T, dir string, lines int) *spool.Sink {
	t.Helper()
	s := openSpool(t, dir, nil,
		spool.Config{SegmentSize: 64 << 10, Sync: spool.SyncNever, OnFull: wait})
	for n := range lines {
		must(t, s.WriteRecord(&nib.Record{Level: nib.LevelInfo,
			Line: fmt.Appendf(nil, "%s %d\n", filepath.Base(dir), n)}))
	}
	return s
}

func closed(t *testing.T, dir string, lines int) {
	t.Helper()
	must(t, left(t, dir, lines).Close())
}

func mustRun(t *testing.T, c Config) Counts {
	t.Helper()
	n, err := Run(context.Background(), c)
	must(t, err)
	return n
}

// TestOnce delivers two spools and leaves alone the one that is in use.
func TestOnce(t *testing.T) {
	root := t.TempDir()
	closed(t, filepath.Join(root, "a"), 2000)
	closed(t, filepath.Join(root, "b"), 3)
	defer left(t, filepath.Join(root, "c"), 5).Close()
	p, reported := &place{}, newReports("")
	if got, want := mustRun(t, config(root, p, reported)), (Counts{Spools: 2, InUse: 1, Delivered: 2003}); got != want {
		t.Errorf("got %+v, want %+v\n%s", got, want, reported.String())
	}
	for i, line := range p.Lines() {
		want := fmt.Sprintf("a %d", i)
		if i >= 2000 {
			want = fmt.Sprintf("b %d", i-2000)
		}
		if line != want {
			t.Fatalf("line %d: got %q, want %q", i, line, want)
		}
	}
	if p.open != 0 {
		t.Errorf("%d destinations are open", p.open)
	}
	if got, want := mustRun(t, config(root, p, reported)), (Counts{InUse: 1}); got != want {
		t.Errorf("again: got %+v, want %+v", got, want)
	}
}

// TestWatchTakesASpoolWhenItsOwnerHasGone ends the relay by its context when
// the spool is delivered.
func TestWatchTakesASpoolWhenItsOwnerHasGone(t *testing.T) {
	root := t.TempDir()
	s := left(t, filepath.Join(root, "a"), 10)
	p, reported := &place{}, newReports("a: 10 delivered to")
	c := config(root, p, reported)
	c.Once = false
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan Counts)
	go func() {
		n, err := Run(ctx, c)
		if err != nil {
			t.Error(err)
		}
		ended <- n
	}()
	if reported.String() != "" {
		t.Errorf("with an owner: %s", reported.String())
	}
	must(t, s.Close())
	<-reported.seen
	cancel()
	if got, want := <-ended, (Counts{Spools: 1, Delivered: 10}); got != want {
		t.Errorf("got %+v, want %+v\n%s", got, want, reported.String())
	}
}

var errAway = errors.New("away")

// TestDeliverTimeoutReleasesTheSpool releases a spool that the destination does
// not accept, and delivers it in the next run.
func TestDeliverTimeoutReleasesTheSpool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		dir := filepath.Join(root, "a")
		closed(t, dir, 7)
		p := refusing(func([]nib.Record) (delivery.Result, error) {
			return delivery.Result{}, errAway
		})
		reported := newReports("")
		c := config(dir, p, reported)
		c.DeliverTimeout = time.Second // in which a destination is asked several times
		if got, want := mustRun(t, c), (Counts{Spools: 1, Pending: 7}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		for _, text := range []string{
			"taken, 7 records that destination has not settled go to far",
			"deliver to destination: away; 7 lines wait",
			"released: the destination accepts nothing",
		} {
			if !strings.Contains(reported.String(), text) {
				t.Errorf("%q is not in\n%s", text, reported.String())
			}
		}
		if o := spool.OwnerOf(dir); o != spool.OwnerNone {
			t.Errorf("got owner %v, want none", o)
		}
		p.DeliverWith(nil)
		c.DeliverTimeout = time.Minute
		if got, want := mustRun(t, c), (Counts{Spools: 1, Delivered: 7}); got != want {
			t.Errorf("again: got %+v, want %+v", got, want)
		}
	})
}

func TestRejectedRecordsAreCounted(t *testing.T) {
	root := t.TempDir()
	closed(t, filepath.Join(root, "a"), 7)
	p := refusing(func(batch []nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: len(batch), Rejected: []delivery.Rejection{{Index: 2, Reason: errAway}}}, nil
	})
	if got, want := mustRun(t, config(root, p, newReports(""))), (Counts{Spools: 1, Delivered: 6, Rejected: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestInterruptedRunGivesBack ends the relay while the destination hangs until
// its context ends.
func TestInterruptedRunGivesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	closed(t, dir, 7)
	ctx, cancel := context.WithCancel(context.Background())
	p := refusing(func([]nib.Record) (delivery.Result, error) { cancel(); return delivery.Result{}, errAway })
	reported := newReports("")
	n, err := Run(ctx, config(dir, p, reported))
	if want := (Counts{Spools: 1, Pending: 7}); err != nil || n != want {
		t.Errorf("got %+v and %v, want %+v", n, err, want)
	}
	if !strings.Contains(reported.String(), "released: the relay ends") {
		t.Errorf("got %s", reported.String())
	}
}

// several makes a spool with two destinations that have settled nothing.
func several(t *testing.T, lines int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a")
	s := openSpool(t, dir, holder{}, spool.Config{
		Name: "file", Also: []spool.NamedDestination{{Name: "kafka", To: holder{}}}, SegmentSize: 64 << 10, Drain: time.Millisecond, OnFull: wait,
	})
	for n := range lines {
		must(t, s.WriteRecord(&nib.Record{Line: fmt.Appendf(nil, "a %d\n", n)}))
	}
	if err := s.Close(); !errors.Is(err, spool.ErrPending) {
		t.Fatalf("got %v, want ErrPending", err)
	}
	return dir
}

// TestSeveralDestinationsNeedAName refuses to guess.
func TestSeveralDestinationsNeedAName(t *testing.T) {
	reported := newReports("")
	if n := mustRun(t, config(several(t, 2), &place{}, reported)); n.Spools != 0 || n.Pending != 2 || !strings.Contains(reported.String(), "file, kafka") {
		t.Errorf("got %+v\n%s", n, reported.String())
	}
}

// TestOtherDestinationsKeepTheirRecords delivers to one of two, and later to
// the other.
func TestOtherDestinationsKeepTheirRecords(t *testing.T) {
	dir := several(t, 5000) // some segments
	for _, name := range []string{"kafka", "file"} {
		p, reported := &place{}, newReports("")
		c := config(dir, p, reported)
		c.Targets[0].Name = name
		if got, want := mustRun(t, c), (Counts{Spools: 1, Delivered: 5000}); got != want || p.Len() != 5000 {
			t.Errorf("%s: got %+v and %d lines, want %+v\n%s", name, got, p.Len(), want, reported.String())
		}
	}
}

// TestSeveralTargets delivers to both at once.
func TestSeveralTargets(t *testing.T) {
	file, kafka, reported := &place{}, &place{}, newReports("")
	c := config(several(t, 5000), file, reported)
	c.Targets = []Target{{"file", "a file", file.opened}, {"kafka", "a topic", kafka.opened}}
	if got, want := mustRun(t, c), (Counts{Spools: 1, Delivered: 10000}); got != want || file.Len() != 5000 || kafka.Len() != 5000 {
		t.Errorf("got %+v, %d and %d lines, want %+v\n%s", got, file.Len(), kafka.Len(), want, reported.String())
	}
}

func TestRunNeedsItsRoot(t *testing.T) {
	if _, err := Run(context.Background(), config(filepath.Join(t.TempDir(), "none"), &place{}, newReports(""))); err == nil {
		t.Error("got no error")
	}
}

// TestRelayMakesNoSegment takes a spool repeatedly while the destination
// accepts nothing.
func TestRelayMakesNoSegment(t *testing.T) {
	root := t.TempDir()
	closed(t, filepath.Join(root, "a"), 3)
	p := refusing(func([]nib.Record) (delivery.Result, error) { return delivery.Result{}, errors.New("down") })
	for range 5 {
		reported := newReports("")
		c := config(root, p, reported)
		c.DeliverTimeout = time.Millisecond
		if got := mustRun(t, c); got.Pending != 3 {
			t.Fatalf("got %+v, want 3 pending\n%s", got, reported.String())
		}
	}
	names, err := filepath.Glob(filepath.Join(root, "a", "*.seg"))
	if err != nil || len(names) != 1 {
		t.Errorf("got the segments %q, %v; want that of the service alone", names, err)
	}
}

// TestRelayDeliversSharedDirectories has a shared directory of one live and two
// dead processes.
func TestRelayDeliversSharedDirectories(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	var all []*spool.Sink
	for range 3 {
		s := openSpool(t, home, nil,
			spool.Config{Shared: true, SegmentSize: 64 << 10, Sync: spool.SyncNever})
		for n := range 10 {
			must(t, s.WriteRecord(&nib.Record{Level: nib.LevelInfo,
				Line: fmt.Appendf(nil, "%d %d\n", len(all), n)}))
		}
		all = append(all, s)
	}
	for i, alive := range all {
		if i == 1 {
			defer alive.Close()
		} else if err := alive.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, where := range []string{home, root} {
		p, reported := &place{}, newReports("")
		want := Counts{InUse: 1}
		if where == home {
			want = Counts{Spools: 2, InUse: 1, Delivered: 20}
		}
		if got := mustRun(t, config(where, p, reported)); got != want {
			t.Errorf("%s: got %+v, want %+v\n%s", where, got, want, reported.String())
		}
	}
}

// TestSpoolWithACursorThatCannotBeReadIsLeftAlone has a cursor of a later
// version, which is as unreadable as one on a failing disk: without it, the
// mark for the destination is unknown.
func TestSpoolWithACursorThatCannotBeReadIsLeftAlone(t *testing.T) {
	dir := several(t, 3)
	settle := config(dir, &place{}, newReports(""))
	settle.Targets[0].Name = "kafka"
	mustRun(t, settle)
	name := filepath.Join(dir, "kafka.cursor")
	b, err := os.ReadFile(name)
	must(t, err)
	copy(b[:128], b[512:]) // the first position goes to the second slot
	binary.LittleEndian.PutUint32(b[8:], 99)
	binary.LittleEndian.PutUint32(b[124:], crc32.Checksum(b[:124], crc32.MakeTable(crc32.Castagnoli)))
	must(t, os.WriteFile(name, b, 0o600))
	p, reported := &place{}, newReports("")
	c := config(dir, p, reported)
	c.Targets[0].Name = "file"
	if got := mustRun(t, c); got.Spools != 0 || got.Pending != 3 || strings.Count(reported.String(), "left alone: kafka.cursor") != 1 {
		t.Errorf("got %+v\n%s", got, reported.String())
	}
}
