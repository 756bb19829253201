// SPDX-License-Identifier: Apache-2.0

//go:build linux

package receivers

import (
	"fmt"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/e2e/servers"
)

// A Receiver is a server on 127.0.0.1 with its own directory. It ends with the
// test.
type Receiver interface {
	// URL is where records are sent to. It stays the same.
	URL() string

	// Start starts a server that does not run, and returns when it listens.
	Start() error

	// Kill kills the server with SIGKILL, and returns when it is gone.
	Kill()

	// Arrivals reads all records of a running server.
	Arrivals(t testing.TB) iter.Seq[Arrival]
}

// An Arrival is a record that a Receiver has stored.
type Arrival struct {
	Message string
	UID     string // the identity of the record
}

// A server is the process of a Receiver.
type server struct {
	addr    string // the address on which it listens
	dir     string
	command func() *exec.Cmd
	cmd     *exec.Cmd // nil while it does not run
}

// startTimeout is the time within which a server must listen.
const startTimeout = 5 * time.Minute

// newServer returns a server with a directory and an unused port, and the
// numbers of this port and another one.
func newServer(t testing.TB) (s server, port, other string) {
	t.Helper()
	addrs, err := servers.UnusedAddresses(2)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(addrs[0])
	_, other, _ = net.SplitHostPort(addrs[1])
	return server{addr: addrs[0], dir: t.TempDir()}, port, other
}

// begin starts the server of a test for the first time.
func begin(t testing.TB, r Receiver) {
	t.Helper()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
}

// Start implements Receiver.
func (s *server) Start() error {
	out, err := os.OpenFile(filepath.Join(s.dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := s.command()
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	end := time.Now().Add(startTimeout)
	for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			return conn.Close()
		}
	}
	s.Kill()
	text, _ := os.ReadFile(out.Name()) // for the error message
	return fmt.Errorf("%s does not listen after %v\n%s", cmd.Path, startTimeout,
		text[max(0, len(text)-4000):])
}

// Kill implements Receiver.
func (s *server) Kill() { s.end(syscall.SIGKILL) }

// end ends the server with a signal, and returns when it is gone.
func (s *server) end(with syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(with) // the receiver may have ended
	_ = s.cmd.Wait()
	s.cmd = nil
}

const unset = "runs a real server: set NIB_E2E to short or full"

// cached returns a directory in the cache that has a file called name in it.
// Without it, fill makes the directory. The test is skipped if the directory
// cannot be made, or if when does not have the value of NIB_E2E.
func cached(t testing.TB, dir, name, when string, fill func(dir string) error) string {
	t.Helper()
	switch mode := os.Getenv("NIB_E2E"); {
	case mode == "":
		t.Skip(unset)
	case !strings.Contains(when, mode):
		t.Skipf("%s takes long to build and to run: set NIB_E2E to full", dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("needs a directory for the server: %v", err)
	}
	dir = filepath.Join(cache, "nib-e2e", dir)
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Skip(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "build")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		t.Skipf("%s cannot be built: %v", filepath.Base(dir), err)
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
		return dir // another process has made it
	}
	_ = os.RemoveAll(dir) // an incomplete one
	if err := os.Rename(tmp, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes files into a directory.
func write(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command in a directory.
func run(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out[max(0, len(out)-4000):])
	}
	return nil
}
