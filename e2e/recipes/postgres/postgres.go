// SPDX-License-Identifier: Apache-2.0

// Package postgres starts a PostgreSQL server for a test.
package postgres

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// binary finds a program of PostgreSQL. Debian keeps them out of PATH.
func binary(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(paths) == 0 {
		t.Skipf("there is no %s: apt-get install postgresql", name)
	}
	return paths[len(paths)-1]
}

// Start starts a server with an empty database on a socket, for the duration of
// the test, and returns its address. PostgreSQL refuses to run as root: then it
// runs as the user postgres.
func Start(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") // short, and of another owner
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid),
			Gid: uint32(gid)}}
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(binary(t, name), args...)
		c.SysProcAttr, c.Dir = as, dir
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := run("initdb", "-D", data, "-U", "shop", "-A", "trust", "--no-sync",
		"--locale=C").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	// pg_ctl waits until the server accepts connections.
	options := "-k " + dir + " -c listen_addresses='' -c fsync=off"
	start := run("pg_ctl", "-D", data, "-l", filepath.Join(dir, "log"), "-o", options, "-w",
		"start")
	if err := start.Run(); err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		t.Fatalf("pg_ctl: %v\n%s", err, bytes.TrimSpace(text))
	}
	t.Cleanup(func() {
		if err := run("pg_ctl", "-D", data, "-m", "immediate", "stop").Run(); err != nil {
			t.Errorf("pg_ctl stop: %v", err)
		}
	})
	return "host=" + dir + " user=shop dbname=postgres sslmode=disable"
}
