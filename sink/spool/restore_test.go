// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A once is a destination that drops a record whose identity it has seen, as
// Elasticsearch and Kafka do.
type once struct {
	mu    sync.Mutex
	seen  map[store.Position]bool
	lines map[string]int
	down  bool
}

func (d *once) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return delivery.Result{}, errDown
	}
	for _, r := range batch {
		id := store.Position{Spool: r.Spool, Seq: r.Seq}
		if !d.seen[id] {
			d.lines[string(r.Line)]++
		}
		d.seen[id] = true
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

// check requires that each of the first lines has arrived, and once. If a state
// was restored over another one, there may be a notice about the records
// between the segments of both, and the copy of a segment may be newer than the
// segment.
func (d *once) check(t *testing.T, lines int, over, reboot bool) {
	t.Helper()
	maps.DeleteFunc(d.lines, func(line string, _ int) bool {
		return over && strings.Contains(line, "lines lost: the spool")
	})
	for n := range lines {
		line := string(record(nib.LevelInfo, n, 200).Line)
		if got := d.lines[line]; got != 1 && !(over && reboot && got > 1) {
			t.Errorf("line %d arrived %d times, want once", n, got)
			return
		}
		delete(d.lines, line)
	}
	if len(d.lines) > 0 {
		t.Errorf("got %q as well", slices.Collect(maps.Keys(d.lines)))
	}
}

// A copying is a way of copying a directory into another one.
type copying struct {
	name string
	copy func(t testing.TB, from, to string) // nil: the whole file system, with its inodes
}

// copyings returns the ways that this machine has.
func copyings() (all []copying) {
	all = append(all, copying{"rewritten files", func(t testing.TB, from, to string) {
		must(t, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a process has the directory open
			}
			must(t, err)
			rel, err := filepath.Rel(from, path)
			must(t, err)
			if e.IsDir() {
				return os.MkdirAll(filepath.Join(to, rel), 0o700)
			}
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			must(t, err)
			return os.WriteFile(filepath.Join(to, rel), b, 0o600)
		}))
	}})
	for _, c := range []struct{ name, script string }{
		{"cp", `mkdir -p "$2" && cp -aT "$1" "$2"`},
		{"cp with holes", `mkdir -p "$2" && cp -aT --sparse=always "$1" "$2"`},
		{"tar", `mkdir -p "$2" && tar -C "$1" -cf - . | tar -C "$2" -xf -`},
		{"rsync", `rsync -aS "$1/" "$2/"`},
		{"rsync in place", `rsync -a --inplace --delete "$1/" "$2/"`},
	} {
		var tool string
		if _, err := fmt.Sscan(c.name, &tool); err != nil {
			panic(err)
		}
		if _, err := exec.LookPath(tool); err != nil {
			continue
		}
		all = append(all, copying{c.name, func(t testing.TB, from, to string) {
			out, err := exec.Command("sh", "-ec", c.script, "sh", from, to).CombinedOutput()
			if err != nil {
				t.Skipf("%s: %v: %s", c.name, err, out) // a tool with other options
			}
		}})
	}
	return all
}

// A restoring is one way through TestRestoredSpoolLosesNoLine.
type restoring struct {
	copying
	over, shared, pending, live, reboot bool
	lines                               int
}

func (r restoring) String() string {
	return fmt.Sprintf("%s,over=%v,shared=%v,pending=%v,live=%v,reboot=%v,lines=%d",
		r.name, r.over, r.shared, r.pending, r.live, r.reboot, r.lines)
}

// TestRestoredSpoolLosesNoLine logs, makes a backup of the directory, logs
// more, restores the backup, and logs again, twice. The destination drops each
// record whose identity it has seen, and still has each line once. The backup
// is made while the process runs or after it, with lines that wait or without,
// and restored over the directory or in its place.
func TestRestoredSpoolLosesNoLine(t *testing.T) {
	var all []restoring
	for _, way := range append(copyings(), copying{"image", nil}) {
		for bits := range 1 << 5 {
			is := func(n int) bool { return bits>>n&1 == 1 }
			for _, lines := range []int{100, 1000} { // in one segment and in several
				all = append(all, restoring{way, is(0), is(1), is(2), is(3), is(4), lines})
			}
		}
	}
	selected := seed.Sample(t, 8, 20)
	for _, r := range all {
		if r.copy == nil && r.over || !selected() {
			continue
		}
		t.Run(r.String(), func(t *testing.T) { r.run(t) })
	}
}

func (r *restoring) run(t *testing.T) {
	dir, backup := filepath.Join(t.TempDir(), "spool"), filepath.Join(t.TempDir(), "backup")
	d, n, boot := &once{seen: map[store.Position]bool{}, lines: map[string]int{}}, 0, uint64(1)
	c := Config{
		Shared: r.shared, SegmentSize: segment.MinSize,
		tick: time.Microsecond, poll: time.Millisecond, OnError: func(error) {},
	}
	process := func(meanwhile func()) {
		c.boot, c.Drain = boot, eventTimeout
		if d.down {
			c.Drain = 1
		}
		s := open(t, dir, d, c)
		for range r.lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			n++
		}
		if !d.down {
			must(t, s.Flush(context.Background()))
		}
		meanwhile()
		if err := s.Close(); !d.down {
			must(t, err)
		}
		<-s.done
	}
	save, restore := func() { r.copy(t, dir, backup) }, func() {
		if !r.over {
			must(t, os.RemoveAll(dir))
		}
		r.copy(t, backup, dir)
	}
	if r.copy == nil {
		m, image := vfstest.NewMem(nil), (*vfstest.Mem)(nil)
		c.fs, dir = m, memDir
		save = func() { image = m.CrashClone(vfstest.Everything) }
		restore = func() { m = image.CrashClone(vfstest.Everything); c.fs = m }
		must(t, m.MkdirAll(filepath.Dir(dir), 0o700))
	}
	d.down = r.pending
	if process(func() {
		if r.live {
			save()
		}
	}); !r.live {
		save()
	}
	d.down = false
	process(func() {})
	for range 2 {
		restore()
		if r.reboot {
			boot++
		}
		process(func() {})
	}
	d.check(t, n, r.over, r.reboot)
}

// A starter is a destination that knows which records are new.
type starter struct {
	*far
	started []uint64
}

func (d *starter) Start(spool uint64) { d.started = append(d.started, spool) }

// TestStartAnnouncesNewLines has processes with and without lines of their own:
// a destination gets the number of the lines of its process beforehand, and not
// of the lines that were found.
func TestStartAnnouncesNewLines(t *testing.T) {
	for _, c := range []Config{{}, {Shared: true}, {DeliverOnly: true}} {
		dir, f := spoolDir(t), &far{}
		c.SegmentSize = segment.MinSize
		before := c
		before.DeliverOnly, before.Drain = false, 1
		s := open(t, dir, &far{do: down}, before)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		_ = s.Close() // a line is left
		<-s.done
		d := &starter{far: f}
		s = open(t, dir, d, c)
		if !c.DeliverOnly {
			must(t, s.WriteRecord(record(nib.LevelInfo, 1, 100)))
		}
		must(t, s.Flush(context.Background()), s.Close())
		found, own := f.ids[0], f.ids[1:]
		if !slices.Equal(own, d.started) || slices.Contains(own, found) {
			t.Errorf("%+v: got lines of %x and %x, and %x as new", c, found, own, d.started)
		}
	}
}
