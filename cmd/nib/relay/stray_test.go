// SPDX-License-Identifier: Apache-2.0

//go:build unix

package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/sink/spool"
)

// tree lists everything below root: names, modes, sizes, times of change, and
// contents.
func tree(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var sum [32]byte
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(text)
		}
		list = append(list, fmt.Sprintf("%s %v %d %v %x", path, info.Mode(), info.Size(), info.ModTime().UnixNano(), sum[:8]))
		return nil
	})
	must(t, err)
	return list
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// stray puts files into a directory that no spool makes.
func stray(t *testing.T, dir string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t,
		os.WriteFile(in("README"), []byte("text"), 0o600),
		os.WriteFile(in("\x1b]0;owned\x07.cursor"), []byte("text"), 0o600),
		os.WriteFile(in("two words.cursor"), []byte("text"), 0o600),
		os.WriteFile(in(".cursor"), nil, 0o600),
		os.WriteFile(in("new\nline"), nil, 0o600),
		os.WriteFile(in("\xff\xfe"), nil, 0o600),
		os.Mkdir(in("folder.cursor"), 0o700),
		os.Mkdir(in("\x1b[2Jfolder"), 0o700),
		os.Symlink(in("nowhere"), in("link.cursor")),
		syscall.Mkfifo(in("pipe.cursor"), 0o600),
		syscall.Mkfifo(in("pipe"), 0o600),
	)
}

// TestIdleRelayChangesNothing looks a thousand times at spools without records
// for it.
func TestIdleRelayChangesNothing(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b/one"} {
		closed(t, filepath.Join(root, name), 100)
	}
	p := &place{}
	mustRun(t, config(root, p, newReports("")))
	if p.Len() != 200 {
		t.Fatalf("got %d lines, want 200", p.Len())
	}
	closed(t, filepath.Join(root, "in use"), 10)
	lock, err := os.Open(filepath.Join(root, "in use", "lock"))
	must(t, err, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	defer lock.Close()
	must(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	for _, dir := range []string{root, filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "empty")} {
		stray(t, dir)
	}
	before, reported := tree(t, root), newReports("")
	c := config(root, p, reported)
	c.Once, c.Poll = false, 0
	r := relay{Config: c, known: map[string]*known{}}
	for range 1000 {
		dirs, err := spool.Find(root)
		must(t, err)
		r.found(dirs, nil)
		for _, dir := range dirs {
			r.look(context.Background(), dir)
		}
	}
	if after := tree(t, root); !slices.Equal(before, after) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	if r.Spools != 0 || reported.String() != "" || p.Len() != 200 {
		t.Errorf("got %+v, %d lines\n%s", r.Counts, p.Len(), reported.String())
	}
}

// TestStrayFilesDoNotStopTheRelay puts them beside the spools and into them:
// all lines arrive.
func TestStrayFilesDoNotStopTheRelay(t *testing.T) {
	const segment = "0000000000000007.seg"
	for name, do := range map[string]func(in func(string) string) error{
		"none":                   func(func(string) string) error { return nil },
		"file called lock":       func(in func(string) string) error { return os.WriteFile(in("../lock"), nil, 0o600) },
		"folder called lock":     func(in func(string) string) error { return os.Mkdir(in("../lock"), 0o700) },
		"file like a segment":    func(in func(string) string) error { return os.WriteFile(in(segment), []byte("text"), 0o600) },
		"folder like a segment":  func(in func(string) string) error { return os.Mkdir(in(segment), 0o700) },
		"pipe like a segment":    func(in func(string) string) error { return syscall.Mkfifo(in(segment), 0o600) },
		"link like a segment":    func(in func(string) string) error { return os.Symlink("nowhere", in(segment)) },
		"link to itself":         func(in func(string) string) error { return os.Symlink(segment, in(segment)) },
		"segment beside a spool": func(in func(string) string) error { return os.WriteFile(in("../"+segment), nil, 0o600) },
		"folder in a spool":      func(in func(string) string) error { return os.Mkdir(in("lost+found"), 0o700) },
		"link to the folder":     func(in func(string) string) error { return os.Symlink(".", in("loop")) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			closed(t, filepath.Join(root, "a"), 100)
			closed(t, filepath.Join(root, "b"), 100)
			stray(t, root)
			stray(t, filepath.Join(root, "a"))
			must(t, do(func(base string) string { return filepath.Join(root, "a", base) }))
			p, reported := &place{}, newReports("")
			n := mustRun(t, config(root, p, reported))
			if n.Delivered != 200 || n.Pending != 0 || p.Len() != 200 {
				t.Errorf("got %+v and %d lines, want 200\n%s", n, p.Len(), reported.String())
			}
		})
	}
}

// TestUnreadableSpoolDoesNotStopTheRelay has a spool that cannot be opened
// before the others.
func TestUnreadableSpoolDoesNotStopTheRelay(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		closed(t, filepath.Join(root, name), 100)
	}
	lock := filepath.Join(root, "a", "lock")
	must(t, os.Remove(lock), os.Mkdir(lock, 0o700))
	p, reported := &place{}, newReports("")
	if n := mustRun(t, config(root, p, reported)); n.Delivered != 100 || n.Pending != 100 {
		t.Errorf("got %+v\n%s", n, reported.String())
	}
}

// TestRootThatComesAndGoes has a root on a volume that is unmounted for a
// while.
func TestRootThatComesAndGoes(t *testing.T) {
	parent := t.TempDir()
	root, away := filepath.Join(parent, "root"), filepath.Join(parent, "away")
	closed(t, filepath.Join(root, "a"), 3)
	delivered, reported := make(chan struct{}, 10), newReports("no such file")
	c := config(root, &place{}, reported)
	c.Once = false
	c.Report = func(dir, format string, values ...any) {
		reported.report(dir, format, values...)
		if strings.Contains(format, "delivered to") {
			delivered <- struct{}{}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := Run(ctx, c)
		ended <- err
	}()
	<-delivered
	must(t, os.Rename(root, away))
	select {
	case <-reported.seen:
	case err := <-ended:
		t.Fatalf("the relay ended: %v", err)
	}
	closed(t, filepath.Join(away, "b"), 3)
	must(t, os.Rename(away, root))
	<-delivered
	cancel()
	must(t, <-ended)
	if n := strings.Count(reported.String(), "no such file"); n != 1 {
		t.Errorf("reported %d times\n%s", n, reported.String())
	}
}
