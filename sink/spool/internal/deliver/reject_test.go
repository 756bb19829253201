// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/deadletter"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// reject settles the batch: all of it is rejected.
func (b *bed) reject() {
	var all []delivery.Rejection
	for i := range b.batch {
		all = append(all, delivery.Rejection{Index: i})
	}
	b.settleBatch(b.batch, all)
}

// TestRejectedLinesAreReadAsTheyWere stores lines of all kinds.
func TestRejectedLinesAreReadAsTheyWere(t *testing.T) {
	lines := []string{"", "{", "}{\n", "{}", "{}\n", `{"a":1},"seq":99,"line":{"b":2}` + "\n",
		"{a}\n", "a\n", "\n", "{\n}\n", "[]", "\xff", `"`}
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, len(lines), 1)
	for i, line := range lines {
		d.batch[i].Line = []byte(line)
	}
	d.reject()
	kept := bytes.SplitAfter(fileOf(t, m, RejectedExt), []byte{'\n'})
	if len(kept) != len(lines)+1 {
		t.Fatalf("got %d lines, want %d", len(kept)-1, len(lines))
	}
	for i, line := range lines {
		got, ok := deadletter.Parse(kept[i])
		if !ok || string(got.Record.Line) != line || got.Record.Seq != uint64(i+1) ||
			got.Reason != "no reason was given" || !json.Valid(kept[i]) {
			t.Errorf("%q: got %s", line, kept[i])
		}
	}
}

// TestRejectedLinesThatDoNotFit has a line that is longer than the file may be,
// among others, and a file that nib relay delivers again at the same time.
func TestRejectedLinesThatDoNotFit(t *testing.T) {
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, 100, 1)
	d.Options.RejectedSize = 100_000
	for i := range d.batch {
		d.batch[i].Line = []byte("{}\n")
	}
	for _, i := range []int{0, 50, 99} {
		d.batch[i].Line = []byte(`{"a":"` + strings.Repeat("x", 100_000) + `"}` + "\n")
	}
	d.reject()
	text := fileOf(t, m, RejectedExt)
	if n := bytes.Count(text, []byte{'\n'}); n != 97 || d.Unsaved != 3 {
		t.Errorf("got %d lines in the file and %d that are not, want 97 and 3", n, d.Unsaved)
	}
	name := filepath.Join(dirOfTest, nameOfTest)
	must(t, m.Rename(name+RejectedExt, name+deadletter.RetryExt))
	d.Options.RejectedSize = int64(len(text)) + 50
	if d.reject(); len(fileOf(t, m, RejectedExt)) > 50 {
		t.Errorf("got %d bytes, %d are delivered again, want at most %d",
			len(fileOf(t, m, RejectedExt)), len(text), d.Options.RejectedSize)
	}
}

// TestFileOfRejectedLinesHasABound has exactly enough room for all lines, one
// byte less, room for some of them, and none.
func TestFileOfRejectedLinesHasABound(t *testing.T) {
	keep := func(room int64) (text []byte, unsaved uint64) {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, 6, 1)
		d.Options.RejectedSize = room
		d.reject()
		if len(d.faults) > 0 {
			t.Errorf("room for %d bytes: got %v", room, d.faults)
		}
		if room < 0 {
			if _, err := m.Lstat(filepath.Join(dirOfTest, nameOfTest+RejectedExt)); err == nil {
				t.Error("there is a file, although none is wanted")
			}
			return nil, d.Unsaved
		}
		return fileOf(t, m, RejectedExt), d.Unsaved
	}
	all, _ := keep(1 << 20)
	size := int64(len(all))
	for room, unsaved := range map[int64]uint64{size: 0, size - 1: 1, size / 2: 3, 1: 6, -1: 6} {
		text, got := keep(room)
		if got != unsaved || int64(len(text)) > max(room, 0) || !bytes.HasPrefix(all, text) {
			t.Errorf("room for %d bytes of %d: got %d bytes and %d lines that are not in the file, want %d", room, size, len(text), got, unsaved)
		}
	}
}

// TestRejectedLinesThatCannotBeStoredAreCounted makes each call on the file
// fail: delivery continues.
func TestRejectedLinesThatCannotBeStoredAreCounted(t *testing.T) {
	for _, c := range []struct {
		op      vfstest.Op
		faults  int
		unsaved uint64
		owner   int
	}{
		{vfstest.OpCreate, 1, 2, 0},
		{vfstest.OpLock, 1, 2, 0},
		{vfstest.OpStat, 1, 2, 0},
		{vfstest.OpLstat, 1, 2, 0},
		{vfstest.OpWrite, 1, 2, 0},
		{vfstest.OpClose, 1, 0, 0}, // the lines are written
		{vfstest.OpRead, 0, 0, 0},  // whether the previous line is whole is unknown
		{"of another user", 1, 2, 4711},
	} {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, 2, 1)
		name := filepath.Join(dirOfTest, nameOfTest+RejectedExt)
		f, err := m.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.Write([]byte("{}\n"))
		must(t, err, f.Close())
		if c.owner > 0 {
			m.Chown(name, c.owner)
		} else {
			m.Fail(vfstest.Fault{Op: c.op, Path: "*" + RejectedExt, Err: syscall.EIO})
		}
		before := m.Opened()
		d.reject()
		if len(d.faults) != c.faults || d.Unsaved != c.unsaved || d.Settled != 3 {
			t.Errorf("%s: got %v, %d lines that are not in the file and position %d, want %d errors, %d lines and 3", c.op, d.faults, d.Unsaved, d.Settled, c.faults, c.unsaved)
		}
		if n := m.Opened() - before; n != 0 {
			t.Errorf("%s: %d files were left open", c.op, n)
		}
	}
}

// A mover moves a file away each time that it was opened, and locks it there.
type mover struct {
	*vfstest.Mem
	t     *testing.T
	moves int // left
}

func (m *mover) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := m.Mem.Open(name, flag, perm)
	if strings.HasSuffix(name, RejectedExt) && err == nil && m.moves > 0 {
		m.moves--
		must(m.t, m.Rename(name, name+".moved"))
		if m.moves%2 == 0 {
			moved, err := m.Mem.Open(name+".moved", os.O_RDWR, 0)
			must(m.t, err, moved.Lock(vfs.Exclusive))
			m.t.Cleanup(func() { must(m.t, moved.Close()) })
		}
	}
	return f, err
}

// TestRejectedLinesAreNotAppendedToAMovedFile moves the file after it was
// opened and before it is locked: once, some times, and each time.
func TestRejectedLinesAreNotAppendedToAMovedFile(t *testing.T) {
	for _, moves := range []int{1, 2, maxOpens - 1, maxOpens} {
		m := &mover{vfstest.NewMem(nil), t, moves}
		d := newBed(t, m, &answers{}, 2, 1)
		d.reject()
		if moved := fileOf(t, m.Mem, RejectedExt+".moved"); len(moved) > 0 {
			t.Errorf("%d moves: %d bytes are in the moved file", moves, len(moved))
		}
		if moves == maxOpens {
			if len(d.faults) != 1 || !errors.Is(d.faults[0], errMoved) || d.Unsaved != 2 {
				t.Errorf("got %v and %d lines that are not in the file, want %v and 2", d.faults, d.Unsaved, errMoved)
			}
		} else if kept := fileOf(t, m.Mem, RejectedExt); bytes.Count(kept, []byte{'\n'}) != 2 || d.Unsaved > 0 || len(d.faults) > 0 {
			t.Errorf("%d moves: got %q, %d lines that are not in the file, and %v", moves, kept, d.Unsaved, d.faults)
		}
	}
}

// TestRejectedLineCanBeDeliveredAgain stores everything that that requires.
func TestRejectedLineCanBeDeliveredAgain(t *testing.T) {
	line := []byte("{\"m\":\"aab\"}\n")
	for _, c := range []struct {
		name    string
		message []byte
		want    []int
	}{
		{"no message", nil, nil},
		{"a message of its own", []byte("aab"), nil},
		{"a message that is not in the line", []byte("xyz"), nil},
		{"the message", line[6:9], []int{6, 3}},
		{"a part that is there twice", line[7:8], []int{7, 1}},
		{"the whole line", line, []int{0, len(line)}},
		{"the last byte", line[len(line)-1:], []int{len(line) - 1, 1}},
	} {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, 1, 1)
		d.batch[0] = nib.Record{Seq: 1, Spool: 0xabc, Time: -5, Level: nib.LevelError, Logger: `a"b`, Line: line, Message: c.message}
		reason := strings.Repeat("r", deadletter.MaxReason+1)
		d.settleBatch(d.batch, []delivery.Rejection{{Index: 0, Reason: errors.New(reason)}})
		var got struct {
			Seq                          uint64
			Spool, Level, Logger, Reason string
			Time                         int64
			Message                      []int
			Line                         json.RawMessage
		}
		must(t, json.Unmarshal(fileOf(t, m, RejectedExt), &got))
		if got.Seq != 1 || got.Spool != "0000000000000abc" || got.Time != -5 ||
			got.Level != "error" || got.Logger != `a"b` ||
			got.Reason != reason[:deadletter.MaxReason] ||
			!slices.Equal(got.Message, c.want) || string(got.Line) != string(line[:len(line)-1]) {
			t.Errorf("%s: got %+v, want message %d", c.name, got, c.want)
		}
		if len(d.reports) != 1 || d.reports[0].Error() != reason {
			t.Errorf("%s: got reports %v", c.name, d.reports)
		}
	}
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, 1, 1)
	if d.reject(); bytes.Contains(fileOf(t, m, RejectedExt), []byte("logger")) {
		t.Errorf("got the name of a logger that has none: %s", fileOf(t, m, RejectedExt))
	}
}

// TestRejectedLinesFollowAWholeLine has a file whose last line is whole or not.
func TestRejectedLinesFollowAWholeLine(t *testing.T) {
	for before, want := range map[string]string{"": "", "{}\n": "{}\n", "{": "{\n"} {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, 1, 1)
		f, err := m.Open(filepath.Join(dirOfTest, nameOfTest+RejectedExt), os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.Write([]byte(before))
		must(t, err, f.Close())
		d.reject()
		if got := fileOf(t, m, RejectedExt); !bytes.HasPrefix(got, []byte(want+`{"seq":1`)) {
			t.Errorf("after %q: got %q", before, got)
		}
	}
}

// TestRejectedLinesAreWrittenInParts has a file system that writes only a part
// of each buffer.
func TestRejectedLinesAreWrittenInParts(t *testing.T) {
	whole, parts := vfstest.NewMem(nil), vfstest.NewMem(nil)
	parts.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + RejectedExt, Short: 7})
	newBed(t, whole, &answers{}, 3, 1).reject()
	d := newBed(t, parts, &answers{}, 3, 1)
	if d.reject(); !bytes.Equal(fileOf(t, parts, RejectedExt), fileOf(t, whole, RejectedExt)) || d.Unsaved != 0 {
		t.Errorf("got %q, and %d lines that are not stored", fileOf(t, parts, RejectedExt), d.Unsaved)
	}
}
