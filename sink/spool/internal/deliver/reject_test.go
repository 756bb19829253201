// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/delivery"
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

// TestRejectedLinesAreJSON stores lines of all kinds: those that look like a
// JSON object unchanged, and the others as strings.
func TestRejectedLinesAreJSON(t *testing.T) {
	lines := []string{"", "{", "}", "}{", "{}", `{"a":1}`, "{a", "a}", "a", "\n", "{}\n", "{\n}", "{\n}\n", "[]", "\xff", `"`}
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, len(lines), 1)
	for i, line := range lines {
		d.batch[i].Line = []byte(line)
	}
	d.reject()
	kept := bytes.Split(bytes.TrimSuffix(fileOf(t, m, RejectedExt), []byte{'\n'}), []byte{'\n'})
	if len(kept) != len(lines) {
		t.Fatalf("got %d lines, want %d", len(kept), len(lines))
	}
	for i, line := range lines {
		var got struct {
			Reason string
			Line   json.RawMessage
		}
		must(t, json.Unmarshal(kept[i], &got))
		line = strings.TrimSuffix(line, "\n")
		want, err := json.Marshal(strings.ToValidUTF8(line, "\ufffd"))
		must(t, err)
		if strings.HasPrefix(line, "{") && json.Valid([]byte(line)) && !strings.Contains(line, "\n") {
			want = []byte(line)
		}
		if string(got.Line) != string(want) || got.Reason != "no reason was given" {
			t.Errorf("%q: got %s", line, kept[i])
		}
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
		{vfstest.OpStat, 1, 2, 0},
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
