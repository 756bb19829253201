// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// unprivileged has the system check the permissions of the present thread.
// The thread ends with the test.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
}

// A file that may not be opened is reported once, and read when it may be. What
// was renamed before that is reported.
func TestAFileThatMayNotBeOpenedIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	}
	do(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)) // under any umask
	put := func(text string, mode os.FileMode) { do(os.WriteFile(path, []byte(text), mode)) }
	synctest.Test(t, func(t *testing.T) {
		var reports []string
		f := &follower{ctx: t.Context(), path: path, selection: Selection{
			Report: func(format string, args ...any) {
				reports = append(reports, fmt.Sprintf(format, args...))
			},
		}}
		defer f.Close() // only read
		put("secret\n", 0)
		go func() {
			time.Sleep(time.Minute + filePoll/2) // not when polls happen
			do(os.Rename(path, path+".1"))
			put("a\nb\n", 0)
			time.Sleep(time.Minute)
			do(os.Chmod(path, 0o644))
			time.Sleep(time.Minute)
			do(os.Rename(path, path+".0"))
			put("c\n", 0)
			time.Sleep(time.Minute)
			do(os.Chmod(path, 0o644))
		}()
		got := make(chan string)
		go func() {
			unprivileged(t)
			text := make([]byte, len("a\nb\nc\n"))
			n, _ := io.ReadFull(f, text)
			got <- string(text[:n])
		}()
		if text := <-got; text != "a\nb\nc\n" {
			t.Errorf("got %q", text)
		}
		want := []string{
			fmt.Sprintf("waiting for %s: permission denied", path),
			fmt.Sprintf("at least 7 bytes of %s.1 could not be read: permission denied", path),
			fmt.Sprintf("waiting for %s: permission denied", path),
		}
		if !slices.Equal(reports, want) {
			t.Errorf("got %q, want %q", reports, want)
		}
	})
}

// One of several files that may not be opened keeps no other one from being
// read; a single one is an error.
func TestTailOfSeveralFilesWaitsForTheOneThatMayNotBeOpened(t *testing.T) {
	dir := t.TempDir()
	mine, secret := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755),
		os.WriteFile(mine, []byte("a\n"), 0o644), os.WriteFile(secret, []byte("b\n"), 0))
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		sources []Source
		err     error
	}
	for _, paths := range [][]string{{mine, secret}, {secret}} {
		got := make(chan result)
		go func() {
			unprivileged(t)
			var sources []Source
			for _, path := range paths {
				sources = append(sources, Source{Name: path, Path: path})
			}
			list, err := Tail(sources, Selection{}, 10)
			got <- result{list, err}
		}()
		r, several := <-got, len(paths) > 1
		if several != (r.err == nil) || several && len(r.sources) != 2 {
			t.Errorf("%q: got %d sources and %v", paths, len(r.sources), r.err)
		}
	}
}
