// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/stdio/stdiotest"
	"github.com/nib-log/nib/sink/spool"
)

// hostile contains control sequences of a terminal: a title, a clear screen,
// C1, right to left.
const hostile = "a\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\nforged: line \xff"

// hostileRoot returns a directory with spools, and with directories like
// spools, whose names and files have hostile names.
func hostileRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, hostile)
	must(t, keep(t, dir, 10, spool.Config{Name: "file"}).Close())
	must(t, keep(t, filepath.Join(root, "b"), 10, spool.Config{Name: "file"}).Close())
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t,
		os.WriteFile(in(hostile+".cursor"), []byte("text"), 0o600),
		os.WriteFile(in(hostile+".bad"), nil, 0o600),
		os.WriteFile(in("00000000000000ff.seg"), []byte("junk"), 0o600),
		os.Mkdir(in(hostile), 0o700),
		os.Mkdir(filepath.Join(root, hostile+"2"), 0o700),
		os.WriteFile(filepath.Join(root, hostile+"2", "lock"), nil, 0o600),
		os.Mkdir(filepath.Join(root, hostile+"2", "00000000000000ff.cursor"), 0o700),
	)
	return root
}

func checkHarmless(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range strings.ReplaceAll(text, "\n", "") {
		if !strconv.IsPrint(r) {
			t.Errorf("%s: %U came through raw\n%q", what, r, text)
			break
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "forged") {
			t.Errorf("%s: a name has begun a line\n%q", what, text)
		}
	}
}

// TestNamesNeverReachATerminalRaw runs every verb that reads spools on hostile
// names of directories, cursors and other files.
func TestNamesNeverReachATerminalRaw(t *testing.T) {
	for _, verb := range []string{
		"spool ls", "spool ls --json", "spool verify", "spool verify --json", "spool cat", "spool cat --pending nobody",
		"relay --once --to file:/none/x", "relay --once --to file:" + filepath.Join(t.TempDir(), "out"),
	} {
		t.Run(verb, func(t *testing.T) {
			root := hostileRoot(t)
			args := strings.Fields(verb)
			_, stdout, stderr := run(append(args, root)...)
			checkHarmless(t, "standard output", stdout)
			checkHarmless(t, "standard error", stderr)
			if stdout+stderr == "" {
				t.Error("got nothing")
			}
			dir := filepath.Join(root, hostile)
			_, stdout, stderr = run(append(args, dir, filepath.Join(dir, "none"))...)
			checkHarmless(t, "standard output of the directory", stdout)
			checkHarmless(t, "standard error of the directory", stderr)
		})
	}
}

// TestOneBadSpoolDoesNotHideTheOthers names a missing spool before another.
func TestOneBadSpoolDoesNotHideTheOthers(t *testing.T) {
	good := kept(t, 3)
	for _, verb := range []string{"ls", "verify", "cat"} {
		code, stdout, stderr := run("spool", verb, filepath.Join(t.TempDir(), "none"), t.TempDir(), good)
		if code != 1 || strings.Count(stderr, "nib: ") != 2 || strings.Count(stdout, "\n") < 2 {
			t.Errorf("%s: got code %d, %q and %q; want two errors and the spool", verb, code, stdout, stderr)
		}
	}
}

// TestRelayOnAReadOnlyVolume has a delivered spool on the volume, and then one
// that is not delivered.
func TestRelayOnAReadOnlyVolume(t *testing.T) {
	volume := t.TempDir()
	if err := syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(volume, syscall.MNT_DETACH)) })
	remount := func(flags uintptr) {
		t.Helper()
		must(t, syscall.Mount("tmpfs", volume, "tmpfs", syscall.MS_REMOUNT|flags, ""))
	}
	must(t, keep(t, filepath.Join(volume, "a"), 10, spool.Config{Name: "file"}).Close())
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"relay", volume, "--once", "--to", "file:" + out}
	if code, stdout, stderr := run(args...); code != 0 || columns(t, stdout, "delivered")[0] != "10" {
		t.Fatalf("got code %d\n%s%s", code, stdout, stderr)
	}
	remount(syscall.MS_RDONLY)
	if code, stdout, stderr := run(args...); code != 0 || stderr != "" || columns(t, stdout, "delivered")[0] != "0" {
		t.Errorf("delivered, read-only: got code %d\n%s%s", code, stdout, stderr)
	}
	remount(0)
	must(t, keep(t, filepath.Join(volume, "b"), 7, spool.Config{Name: "file"}).Close())
	remount(syscall.MS_RDONLY)
	if code, stdout, stderr := run(args...); code != 3 || !strings.Contains(stderr, "read-only file system") || columns(t, stdout, "pending")[0] != "7" {
		t.Errorf("not delivered, read-only: got code %d\n%s%s", code, stdout, stderr)
	}
	remount(0)
	if code, stdout, stderr := run(args...); code != 0 || columns(t, stdout, "delivered")[0] != "7" {
		t.Errorf("writable again: got code %d\n%s%s", code, stdout, stderr)
	}
}

// TestRelaySurvivesTheReaderOfStandardError has a reader that has gone away,
// and another that does not read: reports must not prevent delivery.
func TestRelaySurvivesTheReaderOfStandardError(t *testing.T) {
	for _, gone := range []bool{true, false} {
		r, w, err := os.Pipe()
		must(t, err)
		defer r.Close()
		if gone {
			r.Close()
		} else {
			stdiotest.Fill(t, w)
		}
		w.Fd() // sets blocking mode, which a process inherits
		out := filepath.Join(t.TempDir(), "out")
		cmd := child("relay", kept(t, 10), "--once", "--to", "file:"+out)
		cmd.Stderr = w
		must(t, cmd.Start())
		hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		hung.Stop()
		w.Close()
		text, _ := os.ReadFile(out)
		if lines := strings.Count(string(text), "\n"); err != nil || lines != 10 {
			t.Errorf("gone %v: got %v and %d lines, want all 10", gone, err, lines)
		}
	}
}
