// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// TestHoled compares the bytes left by a power failure with a batch.
func TestHoled(t *testing.T) {
	long := strings.Repeat("x", deliverySize)
	for _, c := range []struct {
		name, text string
		more       int64 // how much longer the file was
		fault      error
		want       bool
	}{
		{name: "unchanged", text: "one\ntwo\n" + long + "\n"},
		{name: "nothing"},
		{name: "hole in the first", text: "o\x00e\ntwo\n", want: true},
		{name: "hole in the second", text: "one\n\x00\x00\x00\x00", want: true},
		{name: "holes only", text: "\x00\x00\x00\x00\x00", want: true},
		{name: "hole in a long line", text: "one\ntwo\n" + long[1:] + "\x00\n", want: true},
		{name: "another text", text: "o\x00e\ntwi\n"},
		{name: "more text", text: "o\x00e\ntwo\n" + long + "\nmore"},
		{name: "cut off", text: "o\x00e\ntwo\n", more: 1},
		{name: "cannot be read", text: "o\x00e\ntwo\n", fault: syscall.EIO},
	} {
		m, clock := newMem(t)
		put(t, m, livePath, "before\n"+c.text)
		s := openMem(t, m, clock, Config{})
		m.Fail(vfstest.Fault{Op: vfstest.OpRead, Err: c.fault})
		s.mu.Lock()
		batch := []nib.Record{{Line: []byte("one\n")}, {Line: []byte("two\n")}, {Line: []byte(long + "\n")}}
		got, err := mark.Holed(s.w.file, batch, 7, int64(7+len(c.text))+c.more)
		err = s.dest.readError(err)
		s.mu.Unlock()
		if got != c.want || !errors.Is(err, c.fault) {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, got, err, c.want, c.fault)
		}
	}
}

// TestBegun looks for the beginning of a record at the end of the file.
func TestBegun(t *testing.T) {
	for _, c := range []struct {
		text, record string
		from, want   int64
	}{
		{"", "one\n", 0, 0},
		{"on", "one\n", 0, 2},
		{"line\non", "one\n", 0, 2},
		{"line\nOn", "one\n", 0, 0},
		{"lineon", "one\n", 0, 0},
		{"lineon", "one\n", 4, 2},
		{"line\n", "one\n", 0, 0},
		{"line\none\n tw", "one\n two\n", 0, 7},
		{"line\none\n tw", "one\n two\n", 6, 0},
		{"one\n tw", "one\n two\n", 0, 7},
		{"one\none\n tw", "one\n two\n", 0, 7},
		{"one\n two\non", "one\n two\n", 0, 2},
		{"one\non", "one\none\ntwo\n", 0, 6},
		{"line\none\n", "one\n", 0, 0}, // a whole record is not begun
	} {
		m, clock := newMem(t)
		put(t, m, livePath, c.text)
		s := openMem(t, m, clock, Config{})
		s.mu.Lock()
		got, err := s.dest.partialRecord([]byte(c.record), c.from)
		s.mu.Unlock()
		if must(t, err); got != c.want {
			t.Errorf("%q after %d, record %q: got %d, want %d", c.text, c.from, c.record, got, c.want)
		}
	}
}

// A leftEnd is the end of a file that a process has left.
type leftEnd struct {
	name, left string // left is the text after the place
	set        func(s *Sink)
	fault      vfstest.Fault
	shared     bool // another process has the file open
	want       string
	wantErr    error
	reported   error
	there      int64 // result of repairEnd, or argument of completeRecord
	doubt      bool  // whether a call of repairEnd looks at the end again
}

const leftRecord = "one\n two\n"

// openLeft opens a sink that has to look at the end of c, and calls f.
func openLeft(t *testing.T, c leftEnd, f func(s *Sink, batch []nib.Record)) {
	t.Helper()
	m, clock := newMem(t)
	put(t, m, livePath, "one\n"+c.left)
	var reported error
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
	other, err := m.Open(livePath, os.O_RDWR, 0)
	must(t, err)
	defer other.Close()
	if c.shared {
		must(t, other.Lock(vfs.Shared))
	}
	s.mu.Lock()
	s.w.seeEnd()
	s.dest.moveTo(s.w.file, s.w.id, 4)
	s.dest.inDoubt = true
	if c.set != nil {
		c.set(s)
	}
	c.fault.Path = "app.log"
	heal := m.Fail(c.fault)
	f(s, []nib.Record{{Line: []byte(leftRecord)}, {Line: []byte("three\n")}})
	heal()
	size, torn, doubt := s.w.size, s.w.torn, s.dest.inDoubt
	s.unlock()
	text := memText(t, m, livePath)
	wantText(t, c.name, text, "one\n"+c.want)
	if int(size) != len(text) || torn != !strings.HasSuffix(text, "\n") || doubt != c.doubt {
		t.Errorf("%s: got size %d, torn %v, doubt %v, want doubt %v", c.name, size, torn, doubt, c.doubt)
	}
	if !errors.Is(reported, c.reported) {
		t.Errorf("%s: OnError got %v, want %v", c.name, reported, c.reported)
	}
	if err := other.Lock(vfs.Shared); c.reported == nil && err != nil {
		t.Errorf("%s: another process cannot open the file: %v", c.name, err)
	}
}

// TestUnfinished looks at the end of a file before a batch is written.
func TestUnfinished(t *testing.T) {
	const holes = "o\x00e\n two\nthr"
	for _, c := range []leftEnd{
		{name: "nothing"},
		{name: "holes", left: holes},
		{name: "holes before a size that is known", left: holes, set: func(s *Sink) { s.dest.doubtEnd = s.w.size }},
		{name: "holes before another line", left: holes, want: holes, set: func(s *Sink) { s.dest.doubtEnd = s.w.size - 1 }},
		{name: "holes in another file", left: holes, want: holes, set: func(s *Sink) { s.dest.position.ID.Inode++ }},
		{name: "holes that are not in doubt", left: holes, want: holes, set: func(s *Sink) { s.dest.inDoubt = false }},
		{name: "holes after a failed sync", left: holes, want: holes, set: func(s *Sink) { s.w.tainted = true }},
		{name: "holes in a file that is shared", left: holes, want: holes, shared: true},
		{name: "holes without locks", left: holes, want: holes, fault: vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported}},
		{name: "holes, no lock", left: holes, want: holes, doubt: true, wantErr: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpLock, Times: 1, Err: syscall.EIO}},
		{name: "holes that cannot be read", left: holes, want: holes, doubt: true, wantErr: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpRead, Times: 1, Err: syscall.EIO}},
		{name: "file that is not described", left: holes, want: holes, doubt: true, wantErr: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpStat, Times: 1, Err: syscall.EIO}},
		{name: "file that is not described again", left: holes, want: holes, fault: vfstest.Fault{Op: vfstest.OpStat, Skip: 1, Times: 1, Err: syscall.EIO}},
		{name: "holes that cannot be cut off", left: holes, want: holes, doubt: true, wantErr: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpTruncate, Err: syscall.EIO}},
		{name: "holes in a file that grows", left: holes, want: holes + "x", set: func(s *Sink) {
			s.w.fs.(*vfstest.Mem).Fail(vfstest.Fault{Op: vfstest.OpLock, Times: 1, Reached: func() { _, _ = s.w.put([]byte("x")) }})
		}},
		{name: "lock that cannot be shared again", left: holes, reported: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpLock, Skip: 1, Err: syscall.EIO}},
		{name: "beginning", left: "on", want: "on", there: 2, doubt: true},
		{name: "beginning that is not in doubt", left: "on", want: "on", there: 2, doubt: true, set: func(s *Sink) { s.dest.inDoubt = false }},
		{name: "beginning that is not seen", left: "on", want: "on", there: 2, doubt: true, set: func(s *Sink) {
			s.dest.inDoubt, s.w.torn, s.w.unseen = false, false, true
		}},
		{name: "beginning after a failed sync", left: "on", want: "on", set: func(s *Sink) { s.w.tainted = true }},
		{name: "beginning that cannot be read", left: "on", want: "on", doubt: true, wantErr: syscall.EIO, fault: vfstest.Fault{Op: vfstest.OpRead, Skip: 1, Err: syscall.EIO}},
		{name: "first line", left: "one\n", want: "one\n", there: 4, doubt: true},
		{name: "first line that is not in doubt", left: "one\n", want: "one\n", set: func(s *Sink) { s.dest.inDoubt = false }},
		{name: "first line in another file", left: "one\n", want: "one\n", set: func(s *Sink) { s.dest.position.ID.Inode++ }},
		{name: "first line before a later offset", left: "one\n", want: "one\n", set: func(s *Sink) { s.dest.doubtFrom = s.w.size }},
	} {
		openLeft(t, c, func(s *Sink, batch []nib.Record) {
			there, err := s.dest.repairEnd(batch)
			if there != c.there || !errors.Is(err, c.wantErr) {
				t.Errorf("%s: got %d, %v, want %d, %v", c.name, there, err, c.there, c.wantErr)
			}
		})
	}
}

// TestMend completes a record whose beginning is at the end of a file.
func TestMend(t *testing.T) {
	eio := func(op vfstest.Op) vfstest.Fault { return vfstest.Fault{Op: op, Times: 1, Err: syscall.EIO} }
	for _, c := range []leftEnd{
		{name: "nothing", doubt: true},
		{name: "part of a line", left: "on", there: 2, want: leftRecord},
		{name: "first line", left: "one\n", there: 4, want: leftRecord},
		{name: "file that is shared", left: "on", there: 2, want: "on", shared: true},
		{name: "without locks", left: "on", there: 2, want: leftRecord, fault: vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported}},
		{name: "no lock", left: "on", there: 2, want: "on", doubt: true, wantErr: syscall.EIO, fault: eio(vfstest.OpLock)},
		{name: "not described", left: "on", there: 2, want: "on", doubt: true, wantErr: syscall.EIO, fault: eio(vfstest.OpStat)},
		{name: "not written", left: "one\n", there: 4, want: "one\n", doubt: true, wantErr: syscall.EIO, fault: eio(vfstest.OpWrite)},
		{name: "lock that cannot be shared again", left: "on", there: 2, want: leftRecord, reported: syscall.EIO,
			fault: vfstest.Fault{Op: vfstest.OpLock, Skip: 1, Err: syscall.EIO}},
		{name: "completed by another", left: "on", there: 2, want: leftRecord, set: func(s *Sink) {
			s.w.fs.(*vfstest.Mem).Fail(vfstest.Fault{Op: vfstest.OpLock, Times: 1, Reached: func() { _, _ = s.w.put([]byte(leftRecord[2:])) }})
		}},
	} {
		openLeft(t, c, func(s *Sink, batch []nib.Record) {
			n, err := s.dest.completeRecord(batch[0].Line, c.there)
			want := 0
			if c.want == leftRecord && c.set == nil {
				want = 1
			}
			if n != want || !errors.Is(err, c.wantErr) {
				t.Errorf("%s: got %d, %v, want %d, %v", c.name, n, err, want, c.wantErr)
			}
		})
	}
}

// TestOpenWhileALineIsCompleted opens a file that another process locks
// exclusively for a moment, as it completes a line.
func TestOpenWhileALineIsCompleted(t *testing.T) {
	m, clock := newMem(t)
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "app.log", Times: 3, Err: vfs.ErrLocked})
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	checkNumbers(t, memText(t, m, livePath), 1)
}

// TestRotatedAfter lists the files that were rotated after another one.
func TestRotatedAfter(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	old := func(minute, seq int) string {
		return fmt.Sprintf("app-20261121T10%02d00.000000Z-%04d.log", minute, seq)
	}
	names := []string{
		"app.log", "other.log", old(10, 0), old(20, 0), old(20, 10000), old(20, 9999), old(30, 0), old(30, 1) + ".gz",
	}
	b, _ := s.w.naming.parse(old(20, 0))
	var got []string
	for _, later := range s.dest.rotatedAfter(names, b) {
		got = append(got, later.name)
	}
	if want := []string{old(20, 9999), old(20, 10000), old(30, 0)}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
