// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
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
		f := &follower{ctx: t.Context(), path: path, waited: true}
		defer f.Close() // only read
		got := make([]byte, want.Len())
		for n := 0; n < len(got); {
			more, err := f.Read(got[n:])
			if n += more; err != nil || len(f.next) > maxNext {
				t.Fatalf("%d files are open, %v", len(f.next), err)
			}
		}
		if string(got) != want.String() {
			t.Errorf("got %s, want %d lines in their order", got, files)
		}
	})
}
