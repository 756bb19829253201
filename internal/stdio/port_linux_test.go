// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

func socket(t *testing.T) *os.File {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must.Succeed(t, err)
	r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return w
}

func file(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Skipf("no %s here: %v", name, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func temp(t *testing.T) *os.File { return file(t, filepath.Join(t.TempDir(), "out")) }

// fill writes to w until there is no room for a byte.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	p := Open(w)
	defer p.Close()
	for page := make([]byte, pipeBuf); ; {
		if _, err := p.Write(page); err == nil {
			continue
		} else if err != ErrFull {
			t.Fatal(err)
		}
		if page = page[:len(page)/2]; len(page) == 0 {
			return
		}
	}
}

func TestPortFitsItsFile(t *testing.T) {
	_, pipeEnd := stdiotest.Pipe(t)
	for _, c := range []struct {
		name  string
		file  *os.File
		kind  kind
		whole int
	}{
		{"pipe", pipeEnd, kindOwn, pipeBuf},
		{"socket", socket(t), kindSocket, 0},
		{"file", temp(t), kindFile, math.MaxInt},
		{"null", file(t, "/dev/null"), kindFile, math.MaxInt},
	} {
		p := Open(c.file)
		if p.kind != c.kind || p.Whole != c.whole || p.fd <= 2 {
			t.Errorf("%s: got %+v, want kind %d, whole %d, a descriptor above 2", c.name, p, c.kind, c.whole)
		}
		p.Close()
	}
}

func TestDescriptorIsNotInheritedAndIsClosed(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	p := Open(w)
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(p.fd), syscall.F_GETFD, 0)
	if errno != 0 || n&syscall.FD_CLOEXEC == 0 {
		t.Errorf("got flags %#x, error %v, want FD_CLOEXEC", n, errno)
	}
	p.Close()
	if _, err := p.Write([]byte{'\n'}); !errors.Is(err, syscall.EBADF) {
		t.Errorf("after Close: got %v, want %v", err, syscall.EBADF)
	}
}

// TestPortOfAClosedFileFails opens a Port of a closed file.
func TestPortOfAClosedFileFails(t *testing.T) {
	f := temp(t)
	f.Close()
	if err := WriteTo(f, []byte("text\n"), time.Second); !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v, want %v", err, syscall.EBADF)
	}
}

// TestNoDescriptorLeft opens descriptors until there are none, like a program
// that leaks them, which is reported on standard error.
func TestNoDescriptorLeft(t *testing.T) {
	var before syscall.Rlimit
	must.Succeed(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	must.Succeed(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE,
		&syscall.Rlimit{Cur: 3, Max: before.Max}))
	p := Open(os.Stderr)
	state := p.State()
	must.Succeed(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	if !p.borrowed || state != nil { // of os.Stderr, which is os.Stdout under go test -json
		t.Errorf("got %+v with state %v, want the descriptor of the file itself", p, state)
	}
	p.Close()
	if _, err := os.Stderr.Stat(); err != nil {
		t.Errorf("Close closed standard error: %v", err)
	}
}

func TestOnlyTwoDescriptorsAreStandard(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	closed := temp(t)
	closed.Close()
	for _, c := range []struct {
		name string
		file *os.File
		want bool
	}{
		{"standard input", os.Stdin, false}, {"standard output", os.Stdout, true}, {"standard error", os.Stderr, true},
		{"another pipe", w, false}, {"closed", closed, false}, {"nil", nil, false},
	} {
		if got := IsStandard(c.file); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
