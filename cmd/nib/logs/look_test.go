// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Files are found in their order and without a gap, also those that are renamed
// while the directory is read.
func TestALookMissesNoFile(t *testing.T) {
	const files = 200
	f := &follower{path: filepath.Join(t.TempDir(), "app")}
	written := make(chan error, 1)
	go func() {
		for n := range files {
			err := os.WriteFile(f.path, fmt.Appendln(nil, n), 0o600)
			if err == nil && n < files-1 {
				err = os.Rename(f.path, fmt.Sprintf("%s-20261128T103000.%06dZ", f.path, n))
			}
			if err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for isWritten := false; !isWritten; f.notice() {
		select {
		case err := <-written:
			if isWritten = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	for want, next := range f.next {
		text, err := io.ReadAll(next.file)
		var n int
		if _, bad := fmt.Sscan(string(text), &n); n != want || errors.Join(err, bad) != nil {
			t.Fatalf("got the file %d, %v, %v, want %d", n, err, bad, want)
		}
	}
	if err := f.Close(); len(f.next) != files || err != nil {
		t.Errorf("got %d files, %v, want %d", len(f.next), err, files)
	}
}

// The only file of a set is found, also while it gets another name.
func TestALookFindsTheFileThatIsRenamed(t *testing.T) {
	dir := t.TempDir()
	for n := range 1000 {
		path := filepath.Join(dir, fmt.Sprint("app", n))
		if err := os.WriteFile(path, []byte("a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f := &follower{path: path}
		renamed := make(chan error, 1)
		go func() { renamed <- os.Rename(path, path+"-20261128T103000Z") }()
		set := f.openNew(nil)
		if err := <-renamed; err != nil || len(set) != 1 {
			t.Fatalf("look %d: the file was not found, %v", n, err)
		}
		err := errors.Join(set[0].file.Close(), os.Remove(path+"-20261128T103000Z"))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Files that are rotated and compressed while they are looked at are not
// reported as gone: the ones that an earlier look has opened are read.
func TestALookReportsNoFileThatItHasOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("b\n"))
	do := func(errs ...error) { err = errors.Join(err, errors.Join(errs...)) }
	put := func(name, text string) { do(os.WriteFile(path+name, []byte(text), 0o600)) }
	rename := func(from, to string) { do(os.Rename(path+from, path+to)) }
	do(w.Close())
	put(".2", "a\n")
	put(".1", "b\n")
	put("", "c\n")
	f := &follower{path: path, selection: Selection{Report: func(text string, args ...any) {
		t.Errorf(text, args...)
	}}}
	after, looks := knownAt(path+".2"), 0
	set := f.look(func(m *rotatedFile, openErr error) (keep bool) {
		do(openErr)
		if m.path != path || looks == 2 {
			return packing(m.path) == ""
		}
		if looks++; looks == 1 {
			rename(".2", ".3")
			do(os.Remove(path + ".1"))
			put(".2.gz", packed.String())
		} else {
			rename(".3", ".4")
			rename(".2.gz", ".3.gz")
			rename(".1", ".2")
		}
		rename("", ".1")
		put("", "new\n")
		return true
	})
	defer closeFiles(set)
	f.missed(set, after)
	if err != nil || looks != 2 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

// A file that has the number and the first line of a deleted one is read.
func TestAFileWithTheIdentityOfADeletedOneIsNew(t *testing.T) {
	for _, name := range []string{"", ".1"} {
		path := filepath.Join(t.TempDir(), "app.log")
		f := &follower{path: path}
		put := func(name, text string) {
			t.Helper()
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(path+name, "start\nold\n")
		f.remember(knownAt(path + name))
		put(path+name, "start\n") // the same number: it is the same file to the system
		if name != "" {
			put(path, "new\n")
		}
		if f.notice(); len(f.next) == 0 || !isFile(f.next[0].file, knownAt(path+name).info) {
			t.Errorf("app.log%s was not opened", name)
		}
		_ = f.Close() // only read
	}
}

// However many files have come, a limited number is open, and all are read.
func TestALookOpensSoManyFiles(t *testing.T) {
	const files = maxNext + 20
	path := filepath.Join(t.TempDir(), "app")
	var want strings.Builder
	for n := range files {
		name := fmt.Sprintf("%s-20261128T103000.%06dZ", path, n)
		if n == files-1 {
			name = path
		}
		if err := os.WriteFile(name, fmt.Appendln(nil, n), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&want, n)
	}
	synctest.Test(t, func(t *testing.T) {
		f := &follower{ctx: t.Context(), path: path}
		defer f.Close() // only read
		got := make([]byte, want.Len())
		for n := 0; n < len(got); {
			more, err := f.Read(got[n:])
			next, left := len(f.next), len(f.late.files)
			if n += more; err != nil || next > maxNext || left > maxLeft {
				t.Fatalf("%d files are open, and %d left ones, %v", next, left, err)
			}
		}
		if string(got) != want.String() {
			t.Errorf("got %s, want %d lines in their order", got, files)
		}
	})
}

// A look visits no files that are older than the file that was left, whether
// they are compressed or not.
func TestALookVisitsNoOldFiles(t *testing.T) {
	for _, ext := range []string{"", ".gz"} {
		path := filepath.Join(t.TempDir(), "app")
		var names int
		next := func() string {
			names++
			return fmt.Sprintf("%s-20261128T103000.%06dZ", path, names)
		}
		put := func(name, text string) {
			t.Helper()
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			put(next()+ext, "old\n")
		}
		put(path, "0\n")
		synctest.Test(t, func(t *testing.T) {
			f := newFollower(path, Selection{Report: t.Errorf}, every)
			f.ctx = t.Context()
			defer f.Close() // only read
			for n := range 5 {
				want := fmt.Sprintln(n)
				got := make([]byte, len(want))
				if _, err := io.ReadFull(f, got); err != nil || string(got) != want {
					t.Fatalf("got %q, %v, want %q", got, err, want)
				}
				if set := f.openNew(nil); len(set) > 3 {
					t.Fatalf("%q: round %d visits %d files", ext, n, len(set))
				}
				if err := os.Rename(path, next()); err != nil {
					t.Fatal(err)
				}
				put(path, fmt.Sprintln(n+1))
			}
		})
	}
}

// Files are found if the clock was set back before they were renamed.
func TestALookFindsFilesWithOlderStamps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app")
	put := func(name, text string) error { return os.WriteFile(path+name, []byte(text), 0o600) }
	err := errors.Join(put("-20261128T103000Z", "old\n"), put("", "1\n"))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		f := newFollower(path, Selection{Report: t.Errorf}, every)
		f.ctx = ctx
		defer f.Close() // only read
		got := make([]byte, len("1\n2\n3\n"))
		n, bad := f.Read(got)
		err = errors.Join(err, bad, os.Rename(path, path+"-20261128T093001Z"),
			put("-20261128T093002Z", "2\n"), put("", "3\n"))
		_, bad = io.ReadFull(f, got[n:])
		if err = errors.Join(err, bad); err != nil || string(got) != "1\n2\n3\n" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// Files that come and are deleted while an earlier one is read are read, too,
// if the system reports them.
func TestAFileIsOpenedWhileAnotherIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app")
	changed := make(chan struct{}, 1)
	f := &follower{ctx: t.Context(), path: path, changed: changed}
	defer f.Close() // only read
	read := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(f, got); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\nb\n")
	read("a")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write("c\n")
	changed <- struct{}{}
	read("\n")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write("d\n")
	f.next[0].at = time.Time{} // without waiting for the writer
	read("b\nc\nd\n")
}

// A limited number of files stays open for late lines, and what was added to
// the others is read before they are closed.
func TestSoManyFilesStayOpenForLateLines(t *testing.T) {
	const files = maxLeft + 3
	var late lateLines
	defer late.close()
	dir := t.TempDir()
	for n := range files {
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, fmt.Append(nil, "read\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		late.add(file, int64(len("read\n")))
	}
	late.look(func(*os.File) {})
	got := make([]byte, 10)
	if n := late.read(got[:3]); string(got[:n]) != "0\n1" {
		t.Errorf("got %q", got[:n])
	}
	if n := late.read(got); string(got[:n]) != "\n2\n" || len(late.files) != files {
		t.Errorf("got %q, and %d files are open", got[:n], len(late.files))
	}
	late.look(func(*os.File) {})
	if len(late.lines) > 0 || len(late.files) != maxLeft {
		t.Errorf("got %q, and %d files are open", late.lines, len(late.files))
	}
}

// A copy is read when it is whole: until then, its lines are also in the file.
func TestACopyThatIsBeingMadeIsNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "a\nb\n")
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // only read
	f := &follower{path: path}
	for _, text := range []string{"", "a\n", "a\nb\n"} {
		write(path+".1", text)
		if list := f.copies(file, known{}); len(list) > 0 {
			t.Errorf("a copy with %q is read", text)
		}
	}
	write(path, "c\n")
	list := f.copies(file, known{})
	if len(list) != 1 {
		t.Fatalf("got %d copies, want one", len(list))
	}
	_ = list[0].file.Close() // only read
}

// A line whose end is only in the copy stays one line.
func TestALineGoesOnInTheCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	const text, next = "first\nlonger line\n", "next\n"
	err := os.WriteFile(path, []byte(text), 0o600)
	f := &follower{ctx: t.Context(), path: path, selection: Selection{Report: t.Errorf}}
	defer f.Close() // only read
	got := make([]byte, len(text+next))
	n, bad := f.Read(got[:len("first\nlong")])
	err = errors.Join(err, bad, os.WriteFile(path+".1", []byte(text), 0o600),
		os.WriteFile(path, []byte(next), 0o600))
	if _, bad := io.ReadFull(f, got[n:]); err != nil || bad != nil || string(got) != text+next {
		t.Errorf("got %q, %v, %v, want %q", got, err, bad, text+next)
	}
}

// A file that took the name after a truncated one is no copy of it.
func TestAFileIsReadBeforeTheNextOneAlsoIfItWasTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	err := put(path, "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := &follower{ctx: t.Context(), path: path, selection: Selection{Report: t.Errorf}}
		defer f.Close() // only read
		got := make([]byte, len("a\nlonger b\nc\nd\n"))
		n, bad := f.Read(got)
		err = errors.Join(err, bad,
			put(path+".3", "a\n"), put(path, "longer b\n"), os.Rename(path, path+".2"),
			put(path+".1", "c\n"), put(path, "d\n"))
		if _, bad = io.ReadFull(f, got[n:]); err != nil || bad != nil {
			t.Error(err, bad)
		}
		if want := "a\nlonger b\nc\nd\n"; string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// When the set changes all the time, a file is not returned without the files
// that came before it.
func TestALookEndsBeforeAFileThatItMayHaveMissed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	name := func(n int) string { return fmt.Sprint(path, ".", n) }
	put := func(name string) error { return os.WriteFile(name, []byte("a\n"), 0o600) }
	err := errors.Join(put(name(100)), put(path))
	f, looks := &follower{path: path}, 0
	set := f.look(func(m *rotatedFile, bad error) (keep bool) {
		if m.path != name(100+looks) {
			return true
		}
		looks++
		err = errors.Join(err, bad, put(name(100+looks))) // the next look sees another file
		switch looks {
		case maxLooks - 1:
			err = errors.Join(err, put(name(1))) // no look sees it
		case maxLooks:
			err = errors.Join(err, os.Rename(name(1), name(2)), put(name(1)))
		}
		return true
	})
	defer closeFiles(set)
	var got []string
	for _, m := range set {
		got = append(got, strings.TrimPrefix(m.path, path))
	}
	want := ".109 .108 .107 .106 .105 .104 .103 .102 .101 .100 "
	if err != nil || looks != maxLooks || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v after %d looks, want %q", got, err, looks, want)
	}
}

// Copies are read in their order and without a gap, also when they are renamed
// while the directory is read, and the file is truncated again and again.
func TestNoCopyIsMissed(t *testing.T) {
	const copies = 60
	path := filepath.Join(t.TempDir(), "app.log")
	written := make(chan error, 1)
	go func() { written <- truncateOften(path, copies) }()
	f := &follower{
		ctx: t.Context(), path: path,
		selection: Selection{Poll: time.Microsecond, Report: t.Errorf},
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	for want := range 10*copies + 1 {
		if lines.Scan(); lines.Text() != fmt.Sprint("line ", want) {
			t.Fatalf("got %q, %v, want line %d", lines.Text(), lines.Err(), want)
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// truncateOften writes ten lines to a file, renames the copies, makes another
// one, and truncates the file, again and again. The last line stays in it.
func truncateOften(path string, copies int) error {
	name := func(n int) string { return fmt.Sprint(path, ".", n) }
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	for n := range copies {
		for line := range 10 {
			_, bad := fmt.Fprintln(file, "line", 10*n+line)
			err = errors.Join(err, bad)
		}
		for old := n; old > 0; old-- {
			err = errors.Join(err, os.Rename(name(old), name(old+1)))
		}
		text, bad := os.ReadFile(path)
		err = errors.Join(err, bad, os.WriteFile(name(1), text, 0o600), os.Truncate(path, 0))
	}
	_, bad := fmt.Fprintln(file, "line", 10*copies)
	return errors.Join(err, bad, file.Close())
}
