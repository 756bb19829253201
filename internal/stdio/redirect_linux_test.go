// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// onto redirects f to the target of to, as dup2 does.
func onto(t *testing.T, to, f *os.File) {
	t.Helper()
	must.Succeed(t, syscall.Dup3(int(to.Fd()), int(f.Fd()), 0))
}

// TestFileIsDirectedToAPipeThatIsFull has a regular file at the first Write,
// which then becomes a pipe with a stopped reader: no Write waits for it.
func TestFileIsDirectedToAPipeThatIsFull(t *testing.T) {
	f := temp(t)
	r, w := stdiotest.Pipe(t)
	fill(t, w)
	s := NewStream(f)
	if _, err := s.Write(line); err != nil {
		t.Fatal(err)
	}
	onto(t, w, f)
	unblock := time.AfterFunc(time.Minute, func() { r.Close() }) // a Write that blocks would never return
	defer unblock.Stop()
	stalled := 0
	for range 3 * recheck {
		if _, err := s.Write(line); errors.Is(err, ErrStalled) {
			stalled++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if stalled < 2*recheck-1 {
		t.Errorf("%d of %d Writes found the pipe full", stalled, 3*recheck)
	}
}

// TestFileIsDirectedToAPipeWithoutReader does the same on descriptor 1 of
// another process, which SIGPIPE would end.
func TestFileIsDirectedToAPipeWithoutReader(t *testing.T) {
	const inChild = "NIB_STDIO_CHILD"
	if os.Getenv(inChild) == "" {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), inChild+"=1")
		c.Stdout, c.Stderr = temp(t), os.Stderr
		if err := c.Run(); err != nil {
			t.Errorf("the process ended: %v", err)
		}
		return
	}
	s := NewStream(os.Stdout)
	if _, err := s.Write(line); err != nil {
		t.Fatal(err)
	}
	r, w := stdiotest.Pipe(t)
	onto(t, w, os.Stdout)
	r.Close()
	gone := 0
	for range 3 * recheck {
		if _, err := s.Write(line); err == ErrGone {
			gone++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if gone < 2*recheck-1 {
		t.Errorf("%d of %d Writes found the reader gone", gone, 3*recheck)
	}
	os.Exit(0) // package testing would write to standard output
}

// TestFileKeepsItsPosition writes to a file to which another descriptor of the
// same description appends.
func TestFileKeepsItsPosition(t *testing.T) {
	f := temp(t)
	s := NewStream(f)
	for range 2 {
		if _, err := s.Write(line); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || len(text) != 4*len(line) {
		t.Errorf("got %d bytes, %v, want %d", len(text), err, 4*len(line))
	}
}

// BenchmarkWriteToFile measures a Write to a regular file.
func BenchmarkWriteToFile(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "out"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	s := NewStream(f)
	for b.Loop() {
		if _, err := s.Write(line); err != nil {
			b.Fatal(err)
		}
	}
}
