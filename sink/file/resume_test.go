// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// A desk uses a Sink like a spool: it stores how many lines are settled and the
// mark that belongs to them, which is written at once and synced later, and
// continues there after a crash.
type desk struct {
	lines int
	noted []cursor   // the first one is on disk, the last one was written last
	point func(desk) // called before and after a cursor is written
	rng   *rand.Rand // for the sizes of batches; nil: as many lines as there can be
	make  func(n int) *nib.Record
}

type cursor struct {
	settled int
	mark    []byte
}

func (k *desk) last() cursor { return k.noted[len(k.noted)-1] }

func (k *desk) note(c cursor) {
	k.point(*k)
	k.noted = append(k.noted, c)
	k.point(*k)
}

func (k *desk) sync() {
	k.noted = k.noted[len(k.noted)-1:]
	k.point(*k)
}

func (k *desk) batch(from, to int) []nib.Record {
	n := 12
	if k.rng != nil {
		n = 1 + k.rng.IntN(n)
	}
	batch := make([]nib.Record, min(n, to-from))
	for i := range batch {
		batch[i] = *k.make(from + i)
	}
	return batch
}

// deskRecord returns a record whose length depends on n.
func deskRecord(n int) *nib.Record { return record(nib.LevelInfo, n, 30+n*37%90) }

// blockRecord returns a record of several lines, as sink/console makes them:
// some have the same first line, and some contain the first line of others.
func blockRecord(n int) *nib.Record {
	r := deskRecord(n)
	for i := range n % 4 {
		r.Line = append(r.Line, "    at main.go:"+strings.Repeat("7", 1+i*n%40)+"\n"...)
	}
	if n%5 == 4 {
		r.Line = append(bytes.Clone(deskRecord(n-1).Line), r.Line...)
	}
	return r
}

// deliver delivers until everything is settled. The first old lines may have
// been delivered before.
func (k *desk) deliver(t testing.TB, s *Sink, old int) {
	t.Helper()
	ctx := context.Background()
	for k.last().settled < old {
		batch := k.batch(k.last().settled, old)
		n, err := s.Resume(ctx, k.last().mark, batch)
		must(t, err)
		if n > 0 {
			k.note(cursor{k.last().settled + n, s.Mark()})
		}
		if n < len(batch) {
			break
		}
	}
	k.note(cursor{k.last().settled, s.Mark()})
	k.sync()
	for idle := 0; k.last().settled < k.lines; idle++ {
		res, err := s.Deliver(ctx, k.batch(k.last().settled, k.lines))
		if idle > 10 {
			t.Fatalf("Deliver settles nothing: %v", err)
		}
		if res.Accepted > 0 {
			idle = 0
			k.note(cursor{k.last().settled + res.Accepted, s.Mark()})
		}
		if s.SyncMark() {
			k.note(cursor{k.last().settled, s.Mark()})
			k.sync()
		} else if res.Accepted == 0 && err == nil {
			t.Fatal("Deliver settled nothing, gave no error and wants no sync")
		}
	}
}

// A deskCrash is the state after a crash.
type deskCrash struct {
	image *vfstest.Mem
	desk  desk
	seed  uint64
	power bool
}

// crashAt runs a desk, with a crash before the operation with number at. n is
// the number of operations.
func crashAt(t testing.TB, at int, seed uint64, power bool, config Config, record func(n int) *nib.Record) (c deskCrash, n int) {
	t.Helper()
	m, clock := newMem(t)
	clock.steps = time.Millisecond // so that names are checked occasionally
	rng := rand.New(rand.NewPCG(seed, uint64(at)))
	k := desk{lines: 60, noted: []cursor{{}}, rng: rand.New(rand.NewPCG(seed, 0)), make: record}
	now := k
	strike := func() {
		if n++; n-1 != at {
			return
		}
		pick := vfstest.Everything
		c = deskCrash{desk: now, seed: seed, power: power}
		if power {
			pick = rng.IntN
			c.desk.noted = now.noted[:1+rng.IntN(len(now.noted))]
		}
		c.desk.noted = c.desk.noted[len(c.desk.noted)-1:]
		c.image = m.CrashClone(pick)
		must(t, c.image.MkdirAll(logDir, 0o700)) // it may be lost as well
	}
	k.point = func(d desk) {
		now = d
		strike()
	}
	for skip := range 8 {
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Skip: 3 * skip, Times: 1, Short: 1 + 41*skip, Reached: func() {
			if skip == 0 {
				strike()
			}
		}})
	}
	for _, op := range vfstest.Ops {
		if op != vfstest.OpWrite {
			m.Fail(vfstest.Fault{Op: op, Reached: strike})
		}
	}
	config.Compress = Compressor{} // its goroutine would make the crashes differ each time
	s := openMem(t, m, clock, config)
	k.deliver(t, s, 0)
	must(t, s.Close())
	k.check(t, memAll(t, m))
	return c, n
}

// check checks that text has each record of a desk once, in order and complete,
// with only empty lines between them.
func (k *desk) check(t testing.TB, text string) {
	t.Helper()
	for n := range k.lines {
		line := string(k.make(n).Line)
		rest, ok := strings.CutPrefix(strings.TrimLeft(text, "\n"), line)
		if !ok {
			t.Fatalf("record %d of %d is %q, want %q", n, k.lines, text[:min(len(text), len(line)+20)], line)
		}
		text = rest
	}
	if strings.Trim(text, "\n") != "" {
		t.Errorf("behind the last record there is %q", text)
	}
}

// TestResumeAfterACrash kills the process, or cuts the power, before each
// operation on the file system and around each write of the cursor. The next
// process continues: each line is there once, in order, and none is torn.
func TestResumeAfterACrash(t *testing.T) { resumeAfterCrashes(t, deskRecord, 4) }

// TestResumeFindsRecordsOfSeveralLines does the same with records as
// sink/console makes them (reliability row 30).
func TestResumeFindsRecordsOfSeveralLines(t *testing.T) { resumeAfterCrashes(t, blockRecord, 10) }

func resumeAfterCrashes(t *testing.T, record func(n int) *nib.Record, step int) {
	seeds, selected := uint64(seed.Times(40, 1, 1)), seed.Sample(t, step, 12)
	for _, power := range []bool{false, true} {
		t.Run(map[bool]string{false: "kill", true: "power"}[power], func(t *testing.T) {
			crashes, resumed := 0, 0
			for seed := range seeds {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { // closes the files that its crashes have opened
					for at, n := 0, math.MaxInt; at < n; at++ {
						if !selected() {
							continue
						}
						var c deskCrash
						if c, n = crashAt(t, at, seed, power, Config{MaxSize: 700}, record); c.image == nil {
							break
						}
						before := c.desk.last().settled
						c.resume(t, at%2 == 0)
						crashes++
						resumed += min(before, 1)
						if t.Failed() {
							t.Fatalf("crash before operation %d of %d, seed %d, with %d lines settled", at, n, seed, before)
						}
					}
				})
			}
			t.Logf("%d crashes, %d of them with lines that were settled: none twice, none torn", crashes, resumed)
		})
	}
}

// resume is the next process. It may find old files compressed.
func (c *deskCrash) resume(t *testing.T, compressed bool) {
	t.Helper()
	clock := newTestClock()
	clock.advance(time.Hour)
	boot := uint64(1)
	if c.power {
		boot++
	}
	s := openMem(t, c.image, clock, Config{MaxSize: 700, Compress: Gzip(0), boot: boot})
	c.desk.point, c.desk.rng = func(desk) {}, nil // a start has at least the records of the previous batch
	if compressed {
		cleaned(s)
	}
	c.desk.deliver(t, s, c.desk.lines)
	cleaned(s)
	must(t, s.Close())
	c.desk.check(t, memAll(t, c.image))
}

// TestPartOfARecordBeginsAfterTheSettledOnes has a write stop within a record
// whose first line is the record before it: the bytes of that one are not a
// part of it.
func TestPartOfARecordBeginsAfterTheSettledOnes(t *testing.T) {
	first, second := blockRecord(8), blockRecord(9)
	both := string(first.Line) + string(second.Line)
	for written := len(first.Line) + 1; written < len(both)-1; written++ {
		if both[written-1] == '\n' || both[written] == '\n' {
			continue // whole lines are not completed, but written again
		}
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		s.Mark()
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Times: 1, Short: written})
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: syscall.ENOSPC})
		res, err := s.Deliver(context.Background(), []nib.Record{*first, *second})
		if res.Accepted != 1 || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: got %+v and %v, want 1 accepted and ENOSPC", written, res, err)
		}
		heal()
		deliverAll(t, s, *second)
		must(t, s.Close())
		got := strings.ReplaceAll(memAll(t, m), "\n\n", "\n")
		wantText(t, fmt.Sprint(written, " bytes"), got, both)
	}
}

// firstMark returns mark in the format of version 1, which had no claim.
func firstMark(mark []byte) []byte {
	old := bytes.Clone(mark[:firstMarkSize])
	old[0] = 1
	return old
}

// TestResumeLeavesOthersAlone finds delivered lines among another writer's
// lines, and completes a torn one after them.
func TestResumeLeavesOthersAlone(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := firstMark(s.Mark())
	other := `{"level":"info","other":1}` + "\n"
	written := string(deskRecord(0).Line) + other + string(deskRecord(1).Line) + other + other + string(deskRecord(2).Line[:9])
	appendTo(t, m, written)
	must(t, s.Close())
	s = openMem(t, m, clock, Config{})
	batch := []nib.Record{*deskRecord(0), *deskRecord(1), *deskRecord(2), *deskRecord(3)}
	n, err := s.Resume(context.Background(), mark, batch)
	if must(t, err); n != 2 {
		t.Errorf("got %d taken, want 2", n)
	}
	if onDisk := memAll(t, m.CrashClone(vfstest.Nothing)); !strings.HasPrefix(onDisk, string(deskRecord(0).Line)) {
		t.Errorf("what was taken is not on the disk, but %q", onDisk)
	}
	res, err := s.Deliver(context.Background(), batch[2:])
	if must(t, err); res.Accepted != 2 {
		t.Errorf("got %+v, want 2 accepted", res)
	}
	wantText(t, "file", memAll(t, m), written+string(deskRecord(2).Line[9:])+string(deskRecord(3).Line))
}

// appendTo writes to the live file without a sink.
func appendTo(t testing.TB, m vfs.FS, text string) {
	t.Helper()
	f, err := m.Open(livePath, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.Write([]byte(text))
	must(t, err, f.Close())
}

// TestResumeWithoutAResultKeepsThePlace finds nothing after a mark: the next
// mark is at the same place.
func TestResumeWithoutAResultKeepsThePlace(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	mark := s.Mark()
	want, _ := readMark(mark)
	s = wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{boot: 2}, mark, 0, *deskRecord(0))
	if got, _ := readMark(s.Mark()); got.ID != want.ID || got.At != want.At {
		t.Errorf("got a mark at %d, want %d", got.At, want.At)
	}
}

// TestResumeDoubtsTheEndOfTheFile has a power failure leave a hole in a line
// after the mark: the next delivery replaces the line.
func TestResumeDoubtsTheEndOfTheFile(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	mark := s.Mark()
	next := *deskRecord(1)
	appendTo(t, m, "\x00\x00"+string(next.Line[2:]))
	m = m.CrashClone(vfstest.Everything)
	s = wantTaken(t, m, clock, Config{boot: 2}, mark, 0, next)
	deliverAll(t, s, next)
	checkNumbers(t, memAll(t, m), 2)
}

// TestResumeNeedsItsFile checks that lines of another file do not count as
// delivered, although they are identical.
func TestResumeNeedsItsFile(t *testing.T) {
	lines := string(deskRecord(0).Line) + string(deskRecord(1).Line)
	for _, c := range []struct {
		name string
		do   func(m *vfstest.Mem, mark []byte) []byte
		want int
	}{
		{"untouched", func(m *vfstest.Mem, mark []byte) []byte { return mark }, 1},
		{"no mark", func(*vfstest.Mem, []byte) []byte { return nil }, 0},
		{"mark of a directory", func(m *vfstest.Mem, mark []byte) []byte {
			must(t, m.MkdirAll(livePath+".d", 0o700))
			info, err := m.Lstat(livePath + ".d")
			must(t, err)
			binary.LittleEndian.PutUint64(mark[16:], info.ID.Inode)
			return mark
		}, 0},
		{"odd mark", func(_ *vfstest.Mem, mark []byte) []byte { return append(mark, 0) }, 0},
		{"renamed by logrotate", func(m *vfstest.Mem, mark []byte) []byte {
			must(t, m.Rename(livePath, livePath+".1"))
			return mark
		}, 1},
		{"deleted", func(m *vfstest.Mem, mark []byte) []byte {
			must(t, m.Rename(livePath, livePath+".1"), m.Remove(livePath+".1"))
			f, err := m.Open(livePath, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			must(t, err)
			_, err = f.Write([]byte(lines))
			must(t, err, f.Close())
			return mark
		}, 0},
		{"overwritten", func(m *vfstest.Mem, mark []byte) []byte {
			f, err := m.Open(livePath, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt([]byte(strings.Repeat("x", len(deskRecord(0).Line)-1)), 0)
			must(t, err, f.Close())
			return mark
		}, 0},
		{"not written", func(m *vfstest.Mem, mark []byte) []byte {
			truncate(t, m, livePath, int64(len(deskRecord(0).Line)))
			return mark
		}, 0},
		{"cut off", func(m *vfstest.Mem, mark []byte) []byte {
			f, err := m.Open(livePath, os.O_WRONLY, 0)
			must(t, err, f.Truncate(5), f.Close())
			return mark
		}, 0},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		appendTo(t, m, string(deskRecord(0).Line))
		mark := firstMark(s.Mark())
		appendTo(t, m, string(deskRecord(1).Line))
		must(t, s.Close())
		mark = c.do(m, mark)
		s = openMem(t, m, clock, Config{})
		checkResume(t, c.name, s, mark, c.want, []nib.Record{*deskRecord(1)})
		mark = s.Mark()
		deliverAll(t, s, *deskRecord(2))
		wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 1, *deskRecord(2))
	}
}

// checkResume checks the result of Resume, and which operations it needs.
func checkResume(t *testing.T, name string, s *Sink, mark []byte, want int, batch []nib.Record) {
	t.Helper()
	m := s.w.fs.(*vfstest.Mem)
	syncs, opens, before := 0, 0, m.Opened()
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "app.log*", Reached: func() { opens++ }})
	for _, op := range []vfstest.Op{vfstest.OpSync, vfstest.OpSyncDir} {
		m.Fail(vfstest.Fault{Op: op, Reached: func() { syncs++ }})
	}
	n, err := s.Resume(context.Background(), mark, batch)
	if must(t, err); n != want || (syncs > 0) != (n > 0) || opens > 1 {
		t.Errorf("%s: got %d taken after %d syncs and %d opens, want %d, syncs if there are any, and at most 1 open", name, n, syncs, opens, want)
	}
	if now := m.Opened(); now > before+1 { // the claims
		t.Errorf("%s: got %d open files, want %d", name, now, before)
	}
}

// TestErrorsOfResume fails each operation of a Resume that searches several
// files: it returns the error, or reports it, and the next call finds the
// records.
func TestErrorsOfResume(t *testing.T) {
	a, b, c, d := *record(nib.LevelInfo, 0, deliverySize), *record(nib.LevelInfo, 1, deliverySize), *record(nib.LevelInfo, 2, 0), *record(nib.LevelInfo, 3, 0)
	for _, scene := range []struct {
		name string
		do   func(m *vfstest.Mem, s *Sink, clock *testClock) (mark []byte)
		want int
	}{
		{"several files", func(m *vfstest.Mem, s *Sink, clock *testClock) []byte {
			mustWrite(t, s, deskRecord(9))
			mark := firstMark(s.Mark())
			for _, r := range []nib.Record{a, b} {
				mustWrite(t, s, &r)
				must(t, s.Rotate())
				clock.advance(time.Second)
			}
			mustWrite(t, s, &c)
			return mark
		}, 3},
		{"claimed", func(m *vfstest.Mem, s *Sink, clock *testClock) []byte {
			appendTo(t, m, string(a.Line[:9]))
			mark := s.Mark()
			deliverAll(t, s, a, b, c)
			return mark
		}, 3},
		{"claimed and rotated", func(m *vfstest.Mem, s *Sink, clock *testClock) []byte {
			mark := s.Mark()
			deliverAll(t, s, a, b, c)
			must(t, m.Rename(livePath, filepath.Join(logDir, "app-20261121T103000.123456Z-0000.log")))
			put(t, m, filepath.Join(logDir, "app-20261121T103001.000000Z-0000.log"), "later\n")
			return mark
		}, 3},
	} {
		for _, fault := range []vfstest.Fault{
			{Op: vfstest.OpLstat, Err: syscall.EIO}, {Op: vfstest.OpLstat, Err: fs.ErrNotExist}, {Op: vfstest.OpOpen, Err: syscall.EIO},
			{Op: vfstest.OpStat, Err: syscall.EIO}, {Op: vfstest.OpRead, Err: syscall.EIO}, {Op: vfstest.OpSync, Err: syscall.EIO},
			{Op: vfstest.OpReadDir, Err: syscall.EIO}, {Op: vfstest.OpSyncDir, Err: syscall.EIO},
		} {
			fault.Times = 1
			for fault.Skip = 0; failResume(t, scene.name, scene.do, fault, scene.want, []nib.Record{a, b, c, d}); fault.Skip++ {
			}
		}
	}
}

// failResume calls Resume with a fault, and again without, and reports whether
// the fault was hit.
func failResume(t *testing.T, name string, do func(*vfstest.Mem, *Sink, *testClock) []byte, fault vfstest.Fault, want int, batch []nib.Record) (hit bool) {
	t.Helper()
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := do(m, s, clock)
	must(t, s.Close())
	var reported error
	s = openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
	before := m.Opened()
	if fault.Op != vfstest.OpReadDir && fault.Op != vfstest.OpSyncDir {
		fault.Path = "app*"
	}
	fault.Reached = func() { hit = true }
	heal := m.Fail(fault)
	n, err := s.Resume(context.Background(), mark, batch)
	heal()
	gone := fault.Err == fs.ErrNotExist // the file was deleted just now
	if gone && err != nil || !gone && n != want && (n != 0 || !errors.Is(err, fault.Err)) || !gone && hit && err == nil && !errors.Is(reported, fault.Err) {
		t.Errorf("%s, %s %d: got %d taken, %v, reported %v", name, fault.Op, fault.Skip, n, err, reported)
	}
	if now := m.Opened(); now > before+1 { // the claims
		t.Errorf("%s, %s %d: got %d open files, want %d", name, fault.Op, fault.Skip, now, before)
	}
	if err != nil {
		if n, err = s.Resume(context.Background(), mark, batch); err != nil || n != want {
			t.Errorf("%s, %s %d, again: got %d taken, %v", name, fault.Op, fault.Skip, n, err)
		}
	}
	must(t, s.Close())
	return hit
}

// TestFind searches a text for records.
func TestFind(t *testing.T) {
	const block = 64 << 10 // the size of a read
	long := strings.Repeat("x", block)
	for _, c := range []struct {
		name, text string
		batch      []string
		at, to     int // of the section; 0 is the end
		want, end  int
		reads      int // at most; 0 is 1
	}{
		{name: "nothing", batch: []string{"one\n"}},
		{name: "all", text: "one\ntwo\n", batch: []string{"one\n", "two\n"}, want: 2, end: 8},
		{name: "first", text: "one\nTwo\n", batch: []string{"one\n", "two\n"}, want: 1, end: 4},
		{name: "not the first", text: "two\n", batch: []string{"one\n", "two\n"}},
		{name: "among others", text: "1\none\n2\n3\ntwo\n4\n", batch: []string{"one\n", "two\n"}, want: 2, end: 14},
		{name: "after an offset", text: "one\none\n", batch: []string{"one\n", "one\n"}, at: 4, want: 1, end: 8},
		{name: "before the end", text: "one\none\n", batch: []string{"one\n", "one\n"}, to: 4, want: 1, end: 4},
		{name: "after the end", text: "one\none\n", batch: []string{"one\n"}, at: 4, to: 2},
		{name: "partial line", text: "one\ntw", batch: []string{"one\n", "two\n"}, want: 1, end: 4},
		{name: "longer line", text: "one \none\n", batch: []string{"one\n"}, want: 1, end: 9},
		{name: "several lines", text: "one\n two\n", batch: []string{"one\n two\n"}, want: 1, end: 9},
		{name: "several lines, twice begun", text: "one\none\n two\n", batch: []string{"one\n two\n"}, want: 1, end: 13, reads: 2},
		{name: "several lines, not all", text: "one\n two", batch: []string{"one\n two\n"}},
		{name: "several lines, apart", text: "one\n2\n two\n", batch: []string{"one\n two\n"}, reads: 2},
		{name: "long", text: long + "y\none\n", batch: []string{long + "y\n", "one\n"}, want: 2, end: block + 6, reads: 2},
		{name: "behind a long one", text: "z" + long + long + "\none\n", batch: []string{"one\n"}, want: 1, end: 2*block + 6, reads: 3},
		{name: "within a long one", text: long + long + "y\n", batch: []string{long + "y\n"}, reads: 3},
		{name: "several lines, long", text: "one\n" + strings.Repeat(long, 9) + "\n", batch: []string{"one\n" + long + "\n"}, reads: 13},
	} {
		m, clock := newMem(t)
		put(t, m, livePath, c.text)
		s := openMem(t, m, clock, Config{})
		var batch []nib.Record
		for _, line := range c.batch {
			batch = append(batch, nib.Record{Line: []byte(line)})
		}
		if c.to == 0 {
			c.to = len(c.text) + 1
		}
		reads := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpRead, Reached: func() { reads++ }})
		n, end, err := mark.Section{File: s.w.file, At: int64(c.at), End: int64(c.to)}.Find(context.Background(), batch)
		if must(t, err); n != c.want || int(end) != c.end || reads > max(c.reads, 1) {
			t.Errorf("%s: got %d, the end %d, after %d reads, want %d, %d, %d", c.name, n, end, reads, c.want, c.end, max(c.reads, 1))
		}
	}
	m, clock := newMem(t)
	put(t, m, livePath, "one\n")
	s := openMem(t, m, clock, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, _, err := (mark.Section{File: s.w.file, End: 4}).Find(ctx, []nib.Record{{Line: []byte("one\n")}}); n != 0 || !errors.Is(err, ctx.Err()) {
		t.Errorf("got %d, %v, want %v", n, err, ctx.Err())
	}
}

// TestMarkAfterResume has a process that dies after Resume and Mark.
func TestMarkAfterResume(t *testing.T) {
	record := *blockRecord(2)
	first := strings.SplitAfter(string(record.Line), "\n")[0]
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := s.Mark()
	dieIn(t, s, len(first), record)
	s = wantTaken(t, m, clock, Config{}, mark, 0, record)
	mark = s.Mark()
	must(t, s.Close())
	s = wantTaken(t, m, clock, Config{}, mark, 0, record)
	s.Mark()
	deliverAll(t, s, record)
	wantText(t, "file", memText(t, m, livePath), string(record.Line))

	mark = s.Mark()
	deliverAll(t, s, recordC, recordA)
	must(t, s.Close())
	s = wantTaken(t, m, clock, Config{}, mark, 2, recordC, recordA)
	must(t, s.Close())
	s = wantTaken(t, m, clock, Config{}, s.Mark(), 0, recordC, recordA)
	must(t, s.Close())
	s = wantTaken(t, m, clock, Config{}, mark, 2, recordC, recordA, recordB)
	mark = s.Mark()
	mustWrite(t, s, &recordB) // of a process without a spool
	must(t, s.Close())
	s = wantTaken(t, m, clock, Config{MaxSize: 100}, mark, 0, recordB)
	if res, err := s.Deliver(context.Background(), []nib.Record{recordB}); err != nil || res.Accepted > 0 || s.Stats().Rotations > 0 || !s.SyncMark() {
		t.Errorf("got %+v, %v, want the mark to be stored before the file is ended", res, err)
	}
}

// TestSinkAndDestination logs to the file that a spool delivers to, over
// rotations: each delivered line and each logged line is there once.
func TestSinkAndDestination(t *testing.T) {
	m, clock := newMem(t)
	clock.steps = time.Millisecond
	s := openMem(t, m, clock, Config{MaxSize: 500})
	other := 0
	k := desk{lines: 100, noted: []cursor{{}}, rng: rand.New(rand.NewPCG(1, 2)), make: deskRecord, point: func(desk) {
		r := &nib.Record{Line: fmt.Appendf(nil, "{\"other\":%d}\n", other)}
		other++
		mustWrite(t, s, r)
	}}
	k.deliver(t, s, 0)
	must(t, s.Close())
	all := memAll(t, m)
	for n := range other {
		if c := strings.Count(all, fmt.Sprintf("{\"other\":%d}\n", n)); c != 1 {
			t.Errorf("line %d that was not delivered is there %d times", n, c)
		}
	}
	var delivered []byte
	for line := range bytes.Lines([]byte(all)) {
		if !bytes.HasPrefix(line, []byte(`{"other"`)) {
			delivered = append(delivered, line...)
		}
	}
	checkNumbers(t, string(delivered), k.lines)
}
