// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
)

// newMem returns a file system with the directories /a and /b on its disk.
func newMem(t *testing.T) *Mem {
	t.Helper()
	m := NewMem(nil)
	must(t, m.MkdirAll("/a", 0o700), m.MkdirAll("/b", 0o700), m.SyncDir("/"))
	return m
}

// tree returns all files with their contents: "/a/x=text /a/y=".
func tree(t *testing.T, m *Mem) string {
	t.Helper()
	var files []string
	for name, n := range m.mem.names {
		if !n.mode.IsDir() {
			files = append(files, filepath.ToSlash(name)+"="+string(n.data))
		}
	}
	slices.Sort(files)
	return strings.Join(files, " ")
}

// TestCrashKeepsWhatWasSynced cuts the power after a few operations, with the
// worst and the best outcome.
func TestCrashKeepsWhatWasSynced(t *testing.T) {
	create := func(m *Mem, name, text string) vfs.File {
		f := open(t, m, name, appending)
		write(t, f, text)
		return f
	}
	for _, c := range []struct {
		name        string
		do          func(m *Mem)
		worst, best string
	}{
		{"nothing", func(*Mem) {}, "", ""},
		{"created", func(m *Mem) { create(m, "/a/x", "text") }, "", "/a/x=text"},
		{"synced without its directory", func(m *Mem) { must(t, create(m, "/a/x", "text").Sync()) }, "", "/a/x=text"},
		{"directory without the file", func(m *Mem) { create(m, "/a/x", "text"); must(t, m.SyncDir("/a")) }, "/a/x=", "/a/x=text"},
		{"both", func(m *Mem) { must(t, create(m, "/a/x", "text").SyncData(), m.SyncDir("/a")) }, "/a/x=text", "/a/x=text"},
		{"appended after", func(m *Mem) {
			f := create(m, "/a/x", "text")
			must(t, f.Sync(), m.SyncDir("/a"))
			write(t, f, "more")
		}, "/a/x=text", "/a/x=textmore"},
		{"truncated", func(m *Mem) {
			f := create(m, "/a/x", "text")
			must(t, f.Sync(), m.SyncDir("/a"), f.Truncate(1))
		}, "/a/x=text", "/a/x=t"},
		{"renamed", func(m *Mem) {
			must(t, create(m, "/a/x", "text").Sync(), m.SyncDir("/a"), m.Rename("/a/x", "/a/y"))
		}, "/a/x=text", "/a/y=text"},
		{"renamed over another", func(m *Mem) {
			must(t, create(m, "/a/x", "new").Sync(), create(m, "/a/y", "old").Sync(), m.SyncDir("/a"), m.Rename("/a/x", "/a/y"))
		}, "/a/x=new /a/y=old", "/a/y=new"},
		{"moved, the new directory synced", func(m *Mem) {
			must(t, create(m, "/a/x", "text").Sync(), m.Rename("/a/x", "/b/x"), m.SyncDir("/b"))
		}, "/b/x=text", "/b/x=text"},
		{"other directory synced", func(m *Mem) {
			must(t, create(m, "/a/x", "1").Sync(), create(m, "/b/x", "2").Sync(), m.SyncDir("/b"))
		}, "/b/x=2", "/a/x=1 /b/x=2"},
		{"removed", func(m *Mem) {
			must(t, create(m, "/a/x", "text").Sync(), m.SyncDir("/a"), m.Remove("/a/x"))
		}, "/a/x=text", ""},
		{"linked", func(m *Mem) {
			must(t, create(m, "/a/x", "text").Sync(), m.SyncDir("/a"), m.Link("/a/x", "/a/y"))
		}, "/a/x=text", "/a/x=text /a/y=text"},
		{"preallocated", func(m *Mem) {
			f := create(m, "/a/x", "text")
			must(t, f.Sync(), m.SyncDir("/a"), f.Preallocate(6))
		}, "/a/x=text", "/a/x=text\x00\x00"},
	} {
		m := newMem(t)
		c.do(m)
		wantText(t, c.name+", worst", tree(t, m.CrashClone(Nothing)), c.worst)
		wantText(t, c.name+", best", tree(t, m.CrashClone(Everything)), c.best)
		wantText(t, c.name+", worst of the worst", tree(t, m.CrashClone(Nothing).CrashClone(Nothing)), c.worst)
	}
}

// TestCrashLosesADirectoryWithItsFiles syncs a directory whose own name is not
// synced.
func TestCrashLosesADirectoryWithItsFiles(t *testing.T) {
	m := newMem(t)
	must(t, m.MkdirAll("/new/inner", 0o700))
	write(t, open(t, m, "/new/inner/x", appending), "x")
	must(t, m.SyncDir("/new/inner"), m.SyncDir("/"))
	after := m.CrashClone(Nothing)
	must(t, after.MkdirAll("/new/inner", 0o700))
	if names, err := after.ReadDir("/new/inner"); err != nil || len(names) > 0 {
		t.Errorf("got %q, %v, want a new directory", names, err)
	}
}

// TestSyncPath syncs new directories. For some reason, one cannot be synced.
func TestSyncPath(t *testing.T) {
	for _, c := range []struct {
		dir       string
		err, want error
	}{
		{"none", syscall.EIO, nil},
		{"inner", syscall.EIO, syscall.EIO},
		{"inner", syscall.EACCES, syscall.EACCES},
		{"new", syscall.EIO, syscall.EIO},
		{"new", syscall.EACCES, nil},
		{"new", syscall.EROFS, nil},
	} {
		m := newMem(t)
		must(t, m.MkdirAll("/new/inner", 0o700))
		write(t, open(t, m, "/new/inner/x", appending), "x")
		m.Fail(Fault{Op: OpSyncDir, Path: c.dir, Err: c.err})
		if err := vfs.SyncPath(m, "/new/inner"); !errors.Is(err, c.want) {
			t.Errorf("%v of %s: got %v, want %v", c.err, c.dir, err, c.want)
		}
		names, _ := m.CrashClone(Nothing).ReadDir("/new/inner")
		if survives := c.dir == "none"; survives != slices.Equal(names, []string{"x"}) {
			t.Errorf("%v of %s: got %q after a power failure", c.err, c.dir, names)
		}
	}
}

// TestCrashTearsTheTail collects the possible outcomes for 3 unsynced bytes.
func TestCrashTearsTheTail(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	write(t, f, "sure,")
	must(t, f.Sync(), m.SyncDir("/a"))
	write(t, f, "abc")
	got := map[string]bool{}
	for seed := range uint64(200) {
		got[tree(t, m.CrashClone(rand.New(rand.NewPCG(seed, 0)).IntN))] = true
	}
	var want []string
	for n := range 4 {
		kept := "abc"[:n]
		want = append(want, "/a/x=sure,"+kept)
		if n > 0 {
			want = append(want, "/a/x=sure,"+strings.Repeat("\x00", n)) // the length without the bytes
		}
	}
	slices.Sort(want)
	if all := slices.Sorted(maps.Keys(got)); !slices.Equal(all, want) {
		t.Errorf("got  %q\nwant %q", all, want)
	}
}

// TestCrashReordersNames collects the possible outcomes of three changes. The
// last change builds on the first.
func TestCrashReordersNames(t *testing.T) {
	m := newMem(t)
	open(t, m, "/a/x", appending)
	open(t, m, "/a/y", appending)
	must(t, m.Rename("/a/x", "/a/z"))
	got := map[string]bool{}
	for seed := range uint64(200) {
		got[tree(t, m.CrashClone(rand.New(rand.NewPCG(seed, 0)).IntN))] = true
	}
	want := []string{"", "/a/x=", "/a/x= /a/y=", "/a/y=", "/a/y= /a/z=", "/a/z="}
	if all := slices.Sorted(maps.Keys(got)); !slices.Equal(all, want) {
		t.Errorf("got  %q\nwant %q", all, want)
	}
}

func TestCrashLosesSectors(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", os.O_RDWR|os.O_CREATE)
	old, text := strings.Repeat("o", 4*sector), strings.Repeat("n", 4*sector)
	write(t, f, old)
	must(t, f.Sync(), m.SyncDir("/a"))
	_, err := f.WriteAt([]byte(text), 0)
	must(t, err)
	got := map[string]bool{}
	for seed := range uint64(300) {
		image := content(t, m.CrashClone(rand.New(rand.NewPCG(seed, 0)).IntN), "/a/x")
		pattern := ""
		for s := range 4 {
			part := image[s*sector : (s+1)*sector]
			if part != strings.Repeat(part[:1], sector) {
				t.Fatalf("sector %d is mixed", s)
			}
			pattern += part[:1]
		}
		got[pattern] = true
	}
	if len(got) != 16 {
		t.Errorf("got %d different outcomes for 4 sectors, want 16", len(got))
	}
}

func TestCrashCloneIsOnItsOwn(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	write(t, f, "text")
	must(t, f.Lock(vfs.Exclusive))
	m.Fail(Fault{Op: OpOpen, Err: syscall.EIO})
	c := m.CrashClone(Everything)
	g := open(t, c, "/a/x", os.O_RDWR|os.O_APPEND)
	must(t, g.Lock(vfs.Exclusive))
	write(t, g, "after")
	wantText(t, "original", tree(t, m), "/a/x=text")
	wantText(t, "clone", tree(t, c), "/a/x=textafter")
	wantText(t, "clone, crashed", tree(t, c.CrashClone(Nothing)), "/a/x=text")
}

// TestFailedSyncIsNotMadeUpFor checks that the pages of a failed sync count as
// clean: the next successful sync does not write them.
func TestFailedSyncIsNotMadeUpFor(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	must(t, m.SyncDir("/a"))
	write(t, f, strings.Repeat("a", sector))
	heal := m.Fail(Fault{Op: OpSync, Err: syscall.EIO})
	wantError(t, "Sync", f.Sync(), syscall.EIO)
	heal()
	write(t, f, "b")
	must(t, f.Sync())
	wantText(t, "seen", content(t, m, "/a/x"), strings.Repeat("a", sector)+"b")
	wantText(t, "kept", content(t, m.CrashClone(Everything), "/a/x"), strings.Repeat("\x00", sector)+"b")
}

func TestFaults(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x.log", appending)
	attempt := func() string { // one write each to two files, and an open
		var got []string
		for _, err := range []error{
			func() error { _, err := f.Write([]byte("1")); return err }(),
			func() error { _, err := m.Open("/a/x.log", os.O_RDONLY, 0); return err }(),
			m.Rename("/a/none", "/a/other"),
		} {
			got = append(got, func() string {
				if err == nil {
					return "ok"
				}
				return errno(err).Error()
			}())
		}
		return strings.Join(got, ", ")
	}
	missing, eio := syscall.ENOENT.Error(), syscall.EIO.Error()
	good := "ok, ok, " + missing
	for _, c := range []struct {
		name  string
		fault Fault
		want  []string
	}{
		{"always", Fault{Op: OpWrite, Err: syscall.EIO}, []string{eio + ", ok, " + missing, eio + ", ok, " + missing}},
		{"pattern", Fault{Op: OpOpen, Path: "*.log", Err: syscall.EMFILE}, []string{"ok, " + syscall.EMFILE.Error() + ", " + missing}},
		{"pattern of another file", Fault{Op: OpOpen, Path: "y*", Err: syscall.EIO}, []string{good}},
		{"third time", Fault{Op: OpWrite, Skip: 2, Times: 1, Err: syscall.EIO}, []string{good, good, eio + ", ok, " + missing, good}},
		{"rename", Fault{Op: OpRename, Path: "none", Err: syscall.EXDEV}, []string{"ok, ok, " + syscall.EXDEV.Error()}},
	} {
		heal := m.Fail(c.fault)
		for i, want := range c.want {
			wantText(t, c.name+" "+string(rune('1'+i)), attempt(), want)
		}
		heal()
		wantText(t, c.name+", healed", attempt(), good)
	}
}

func TestShortWrite(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	m.Fail(Fault{Op: OpWrite, Times: 1, Short: 3})
	if n, err := f.Write([]byte("abcdef")); n != 3 || err != nil {
		t.Errorf("got %d, %v, want 3 and no error", n, err)
	}
	write(t, f, "def")
	wantText(t, "content", contentOf(t, f), "abcdef")
}

// TestPartOfACall fails half-way, or after everything is done.
func TestPartOfACall(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		m := NewFaulty(fsys)
		name := filepath.Join(dir, "x")
		f := open(t, m, name, appending)
		heal := m.Fail(Fault{Op: OpWrite, Err: syscall.EIO, Half: true})
		if n, err := f.Write([]byte("abcdef")); n != 3 || err != nil {
			t.Errorf("half a Write: got %d, %v, want 3 and no error", n, err)
		}
		heal()
		write(t, f, "def")
		defer m.Fail(Fault{Op: OpRead, Err: syscall.EIO, Half: true})()
		b := make([]byte, 6)
		n, err := f.ReadAt(b, 0)
		if wantError(t, "half a ReadAt", err, syscall.EIO); string(b[:n]) != "abc" {
			t.Errorf("half a ReadAt: got %q", b[:n])
		}
		m.Fail(Fault{Op: "", Err: syscall.ESTALE, Done: true})
		wantError(t, "Close", f.Close(), syscall.ESTALE)
		wantError(t, "Link", m.Link(name, name+"2"), syscall.ESTALE)
		wantError(t, "Remove", m.Remove(name), syscall.ESTALE)
		wantError(t, "Rename", m.Rename(name+"2", name), syscall.ESTALE)
		_, err = m.Open(name+"3", appending, 0o600)
		wantError(t, "Open", err, syscall.ESTALE)
		wantText(t, "done nevertheless", content(t, fsys, name), "abcdef")
		wantText(t, "made nevertheless", content(t, fsys, name+"3"), "")
	})
}

// TestEveryCallCanFail makes each operation fail on any file system, and checks
// how it is counted.
func TestEveryCallCanFail(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		m := NewFaulty(fsys)
		name := filepath.Join(dir, "x")
		f := open(t, m, name, os.O_RDWR|os.O_CREATE)
		calls := map[Op]func() error{
			OpOpen:        func() error { _, err := m.Open(name, os.O_RDWR, 0); return err },
			OpCreate:      func() error { _, err := m.Open(name, appending, 0o600); return err },
			OpLstat:       func() error { _, err := m.Lstat(name); return err },
			OpRename:      func() error { return m.Rename(name, name) },
			OpNoReplace:   func() error { return m.RenameNoReplace(name, name+"2") },
			OpLink:        func() error { return m.Link(name, name+"2") },
			OpRemove:      func() error { return m.Remove(name) },
			OpMkdir:       func() error { return m.MkdirAll(dir, 0o700) },
			OpReadDir:     func() error { _, err := m.ReadDir(dir); return err },
			OpSyncDir:     func() error { return m.SyncDir(dir) },
			OpWrite:       func() error { _, err := f.WriteAt([]byte("x"), 0); return err },
			OpRead:        func() error { _, err := f.ReadAt([]byte("x"), 0); return err },
			OpSync:        func() error { return errors.Join(f.Sync(), f.SyncData()) },
			OpTruncate:    func() error { return f.Truncate(1) },
			OpPreallocate: func() error { return f.Preallocate(1) },
			OpRights:      func() error { return f.SetRights(0o600, vfs.NoOwner) },
			OpStat:        func() error { _, err := f.Stat(); return err },
			OpFree:        func() error { _, err := f.Free(); return err },
			OpLock:        func() error { return f.Lock(vfs.Shared) },
		}
		for op, call := range calls {
			heal := m.Fail(Fault{Op: op, Err: syscall.EDOM})
			wantError(t, string(op), call(), syscall.EDOM)
			heal()
		}
		heal := m.Fail(Fault{Op: OpClose, Err: syscall.EDOM})
		wantError(t, "close a file", f.Close(), syscall.EDOM)
		heal()
		wantError(t, "closed nevertheless", f.Close(), fs.ErrClosed)
	})
}

func TestOwner(t *testing.T) {
	m := newMem(t)
	foreign := func(name string) bool {
		t.Helper()
		info, err := m.Lstat(name)
		must(t, err)
		return info.Foreign()
	}
	for owner, want := range map[int]bool{os.Geteuid(): false, 0: false, vfs.NoOwner: false, 4242: true} {
		if m.Chown("/a", owner); foreign("/a") != want {
			t.Errorf("owner %d: got foreign %v, want %v", owner, !want, want)
		}
	}
}

func TestNoSpace(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	write(t, f, "12345")
	m.SetFree(3)
	if n, err := f.Write([]byte("abcdef")); n != 3 || err != nil {
		t.Errorf("got %d, %v, want 3 and no error", n, err)
	}
	n, err := f.Write([]byte("def"))
	if n != 0 || !vfs.IsFull(err) {
		t.Errorf("got %d, %v, want 0 and no space", n, err)
	}
	if err := open(t, m, "/a/y", appending).Preallocate(1); !vfs.IsFull(err) {
		t.Errorf("Preallocate: got %v, want no space", err)
	}
	free := func(want int64) {
		t.Helper()
		if got, err := f.Free(); got != want || err != nil {
			t.Errorf("Free: got %d, %v, want %d", got, err, want)
		}
	}
	free(0)
	must(t, f.Truncate(6))
	free(2)
	must(t, m.Remove("/a/x"))
	free(2) // it is open
	g := open(t, m, "/a/y", appending)
	must(t, f.Close())
	write(t, g, "12345678")
}

func TestHeldOperationGoesOn(t *testing.T) {
	m := newMem(t)
	f := open(t, m, "/a/x", appending)
	hold, reached, done := make(chan struct{}), make(chan struct{}), make(chan error)
	m.Fail(Fault{Op: OpSync, Hold: hold, Times: 1, Reached: func() { close(reached) }})
	go func() { done <- f.Sync() }()
	<-reached
	write(t, f, "others go on")
	select {
	case err := <-done:
		t.Errorf("Sync returned %v before it was let go", err)
	default:
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFailedOpenLeavesNothing(t *testing.T) {
	m := newMem(t)
	m.Fail(Fault{Op: OpCreate, Err: syscall.EMFILE})
	_, err := m.Open("/a/x", appending, 0o600)
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v, want EMFILE", err)
	}
	wantText(t, "files", tree(t, m), "")
}
