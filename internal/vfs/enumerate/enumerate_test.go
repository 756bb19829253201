// SPDX-License-Identifier: Apache-2.0

package enumerate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

var dir = filepath.Join(string(filepath.Separator), "dir")

func newMem(t testing.TB) vfs.FS {
	m := vfstest.NewMem(nil)
	if err := m.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

// copyLife writes three files. Two belong to one class.
func copyLife(w *World) (errs []error) {
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, name := range []string{"a", "b-1", "b-2"} {
		f, err := w.FS.Open(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
		if note(err); err != nil {
			continue
		}
		for range 2 {
			_, err := f.Write([]byte("text"))
			note(err)
		}
		note(f.Sync())
		note(f.Close())
	}
	note(w.FS.SyncDir(dir))
	return errs
}

func classOf(base string) string {
	class, _, _ := strings.Cut(base, "-")
	return class
}

func TestEveryCaseStrikesItsCall(t *testing.T) {
	ran := map[string]int{}
	Life{New: newMem, Class: classOf, Run: func(t *testing.T, w *World) {
		errs := copyLife(w)
		c, ok := w.Case()
		if !ok {
			if len(errs) > 0 || len(w.calls) != 16 {
				t.Errorf("recorded: got %v and %d calls, want none and 16", errs, len(w.calls))
			}
			return
		}
		ran[c.String()]++
		if w.Struck() == 0 {
			t.Error("no call has failed")
		}
		for _, err := range errs {
			if !errors.Is(err, c.Err) {
				t.Errorf("got %v, want %v", err, c.Err)
			}
		}
		if len(errs) == 0 && !c.Half { // a short write is no error
			t.Error("got no error")
		}
		w.Heal()
		if errs := copyLife(w); len(errs) > 0 {
			t.Errorf("after Heal: %v", errs)
		}
		if _, err := w.Sound.Lstat(filepath.Join(dir, "b-2")); err != nil {
			t.Error(err)
		}
	}}.Enumerate(t)
	for name, n := range ran {
		if n != 1 {
			t.Errorf("%s ran %d times", name, n)
		}
	}
	if len(ran) < 5 { // as many as with -short and -race
		t.Errorf("only %d cases ran", len(ran))
	}
}

// TestSpans counts how many calls fail, of those that Call and Span name.
func TestSpans(t *testing.T) {
	write := func(base string, nth int) Call { return Call{vfstest.OpWrite, base, nth} }
	for _, c := range []struct {
		c    Case
		want string // calls that fail, of 130 rounds of a write to a and b and an open
	}{
		{Case{write("a", 3), eio, Once}, "write a 1, write b 0, open 0"},
		{Case{write("a", 3), eio, Hundred}, "write a 100, write b 0, open 0"},
		{Case{write("a", 3), eio, Lasting}, "write a 128, write b 0, open 0"},
		{Case{write("b", 1), eio, AllHundred}, "write a 33, write b 34, open 33"},
		{Case{write("a", 1), eio, AllLasting}, "write a 130, write b 130, open 130"},
		{Case{write("a", 1), enospc, AllLasting}, "write a 130, write b 130, open 0"},
		{Case{Call{vfstest.OpOpen, "a", 1}, emfile, AllLasting}, "write a 0, write b 0, open 130"},
		{Case{Call{vfstest.OpOpen, "none", 1}, emfile, AllLasting}, "write a 0, write b 0, open 0"},
	} {
		w := Life{New: newMem}.world(t, &c.c)
		var files [2]vfs.File
		for i, name := range []string{"a", "b"} {
			f, err := w.FS.Open(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = f
		}
		var failed [3]int
		for range 130 {
			for i, f := range files {
				if _, err := f.Write([]byte("x")); err != nil {
					failed[i]++
				}
			}
			if _, err := w.FS.Open(filepath.Join(dir, "a"), os.O_RDONLY, 0); err != nil {
				failed[2]++
			}
		}
		got := fmt.Sprintf("write a %d, write b %d, open %d", failed[0], failed[1], failed[2])
		if got != c.want || w.Struck() != failed[0]+failed[1]+failed[2] {
			t.Errorf("%v: got %s (%d in all), want %s", c.c, got, w.Struck(), c.want)
		}
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	calls := []Call{{vfstest.OpRename, "app.log", 2}, {vfstest.OpWrite, "app.log", 1}, {vfstest.OpLock, "log", 1}}
	seen := map[string]bool{}
	for _, c := range Cases(calls) {
		if seen[c.String()] {
			t.Errorf("%v twice", c)
		}
		seen[c.String()] = true
	}
	for _, want := range []string{"rename/app.log/2/EIO/once", "write/app.log/1/half-ENOSPC/lasting", "lock/log/1/locked/100", "write/app.log/1/EDQUOT/all-lasting"} {
		if !seen[want] {
			t.Errorf("no case is called %s", want)
		}
	}
}

// TestEveryOperationHasOutcomes checks all operations: one without outcomes
// would not be enumerated.
func TestEveryOperationHasOutcomes(t *testing.T) {
	for _, op := range vfstest.Ops {
		if len(outcomes[op]) == 0 {
			t.Errorf("%s has no outcomes", op)
		}
		if !slices.ContainsFunc(outcomes[op], func(o Outcome) bool { return o.Err == syscall.EIO }) {
			t.Errorf("%s cannot return EIO", op)
		}
	}
	if len(outcomes) != len(vfstest.Ops) {
		t.Errorf("got outcomes for %d operations, want %d", len(outcomes), len(vfstest.Ops))
	}
}
