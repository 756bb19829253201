// SPDX-License-Identifier: Apache-2.0

//go:build linux

package servers

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// ErrNoPostgres indicates that PostgreSQL is not installed.
var ErrNoPostgres = errors.New("needs PostgreSQL (apt-get install postgresql)")

// A Postgres is a child process, a PostgreSQL with a database in a directory of
// its own, on a unix socket there. It does not sync to the disk.
type Postgres struct {
	URL string // URL of the database, for libpq and pgx

	dir, bin string
	owner    *syscall.Credential // PostgreSQL refuses to run as root
	cmd      *exec.Cmd
	output   bytes.Buffer
}

const postgresUser = "app"

// NewPostgres creates a database in a new directory below dir, whose path has
// to be short and accessible to all users. Start starts the server.
func NewPostgres(dir string) (*Postgres, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(bins) == 0 {
		return nil, ErrNoPostgres
	}
	p := &Postgres{bin: filepath.Dir(bins[len(bins)-1])}
	if p.dir, err = os.MkdirTemp(dir, "pg"); err != nil {
		return nil, err
	}
	if os.Getuid() == 0 {
		if p.owner, err = unprivileged(); err != nil {
			return nil, err
		}
		if err := os.Chown(p.dir, int(p.owner.Uid), int(p.owner.Gid)); err != nil {
			return nil, err
		}
	}
	p.URL = "postgres://" + postgresUser + "@/postgres?host=" + url.QueryEscape(p.dir)
	init := p.command("initdb", "-U", postgresUser, "-A", "trust", "--no-sync", "--locale=C", "-E",
		"UTF8")
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return p, nil
}

// unprivileged returns a user that is not root.
func unprivileged() (*syscall.Credential, error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name),
		append([]string{"-D", filepath.Join(p.dir, "data")}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner}
	cmd.Dir = p.dir
	return cmd
}

// Start starts the server, again after Kill, and waits until it accepts
// connections. The system ends it with the test.
func (p *Postgres) Start() error {
	p.cmd = p.command("postgres", "-c", "fsync=off", "-c", "listen_addresses=", "-c",
		"unix_socket_directories="+p.dir,
		"-c", "shared_buffers=16MB", "-c", "max_connections=50")
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	p.output.Reset()
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if exec.Command(filepath.Join(p.bin, "pg_isready"), "-q", "-h", p.dir).Run() == nil {
			return nil
		}
		if time.Now().After(deadline) {
			p.Kill()
			return fmt.Errorf("PostgreSQL does not answer: %s", p.output.String())
		}
	}
}

// Kill ends the server at once, without a shutdown of the database. Connections
// break.
func (p *Postgres) Kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // SIGKILL would leave its children behind
	_ = p.cmd.Wait()
	p.cmd = nil
}
