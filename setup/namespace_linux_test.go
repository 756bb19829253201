// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

func init() {
	roles["jail"] = jail
	roles["open"] = func(c Config) { _ = live(c).Close() }
}

// asProcessOne makes a child process 1 of a namespace, like a container without
// an init.
func asProcessOne(t *testing.T) func(*exec.Cmd) {
	if os.Getuid() != 0 {
		t.Skip("only root may make a process namespace")
	}
	probe := exec.Command(os.Args[0], "-test.run=^$")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := probe.Run(); err != nil {
		t.Skipf("a process namespace cannot be made here: %v", err)
	}
	return func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID} }
}

// TestCrashOfProcessOne makes the kernel kill the monitor with the process.
// Every crash must have its line, so the test repeats it.
func TestCrashOfProcessOne(t *testing.T) {
	one := asProcessOne(t)
	for _, d := range deaths {
		if d.crash == "" || d.signal != 0 || d.role == "deadlock" || race && (d.role == "concurrent map write" || d.role == "stack overflow") {
			continue
		}
		t.Run(d.role, func(t *testing.T) {
			for range 5 {
				c, path := plain(t)
				c.Crash = SwitchOn
				p := start(t, d.role, c, one)
				ends(t, p, d.status)
				_, others := parse(t, read(t, path))
				if len(others) != 1 || others[0].Message != d.crash || !strings.Contains(others[0].Stack, d.stack) {
					t.Fatalf("got %+v, want one line %q", others, d.crash)
				}
			}
		})
	}
}

// TestSignalsOfProcessOne checks that process 1, which does not die of signals,
// exits with the status that a shell shows for them.
func TestSignalsOfProcessOne(t *testing.T) {
	one := asProcessOne(t)
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		c, path := buffered(t)
		p := start(t, "wait", c, one)
		p.await(t, "ready")
		p.signal(t, sig)
		ends(t, p, exited(want))
		if n, _ := parse(t, read(t, path)); n != 3 {
			t.Errorf("%v: got %d lines, want 3", sig, n)
		}
	}
}

// nobody is the ID of a user without a name, a home, a shell or any rights.
const nobody = 65534

// jail continues as another role in a read-only root file system that contains
// only this program, without /proc, as user 65534, and without any environment.
func jail(c Config) {
	root := os.Getenv("NIB_SETUP_TEST_ROOT")
	for _, step := range []func() error{
		func() error { return syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, "") },
		func() error { return syscall.Mount(root, root, "", syscall.MS_BIND, "") },
		func() error {
			return syscall.Mount("", root, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		},
		func() error { return syscall.Chroot(root) },
		func() error { return syscall.Chdir("/") },
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setgid(nobody) },
		func() error { return syscall.Setuid(nobody) },
	} {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, "jail:", err)
			os.Exit(103)
		}
	}
	text, err := json.Marshal(c)
	if err == nil {
		err = syscall.Exec("/setup.test", []string{"setup.test"}, []string{roleVar + "=open", configVar + "=" + string(text)})
	}
	fmt.Fprintln(os.Stderr, "jail:", err)
	os.Exit(103)
}

// inJail runs a configuration in the jail, and returns its output.
func inJail(t *testing.T, c Config) (out, stderr string) {
	t.Helper()
	root := t.TempDir()
	copyFile(t, os.Args[0], filepath.Join(root, "setup.test"))
	must.Succeed(t, os.Chmod(root, 0o755))
	p := start(t, "jail", c, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "NIB_SETUP_TEST_ROOT="+root)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	})
	if status := p.wait(); status.ExitStatus() == 103 {
		t.Skipf("no jail can be made here: %s", &p.errText)
	}
	return p.out.String(), p.errText.String()
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	must.Succeed(t, err)
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	must.Succeed(t, err)
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestJail(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may make a jail")
	}
	if cgo {
		t.Skip("a program with cgo needs libraries there; CGO_ENABLED=0 runs this test")
	}
	for _, tt := range []struct {
		name  string
		c     Config
		lines int
		want  string // on standard error; "" for nothing
	}{
		{"default", Config{}, 3, ""},
		{"buffered, console", Config{Format: "console", Output: []string{"stdout?buffer=1KiB"}}, 3, ""},
		{"file", Config{Output: []string{"stdout", "file:/app.log"}}, 0, "nib/setup: output file:/app.log: nib/file: open /app.log: read-only file system"},
		{"folder", Config{Output: []string{"file:/var/log/app.log"}}, 0, "nib/setup: output file:/var/log/app.log: mkdir /var/log: no such file or directory: make /var first"},
		{"journal", Config{Output: []string{"journald"}}, 0, "nib/setup: output journald: "},
		{"zone", Config{Output: []string{"file:/app.log?at=00:00&zone=Europe/Berlin"}}, 0,
			"nib/setup: Config.Output[0].zone: \"Europe/Berlin\" is not a known time zone"},
		{"monitor", Config{Crash: SwitchOn}, 0, "nib/setup: crash monitor: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, stderr := inJail(t, tt.c)
			if got := strings.Count(out, "\n"); got != tt.lines {
				t.Errorf("got %d lines, want %d: %q", got, tt.lines, out)
			}
			if !strings.HasPrefix(stderr, tt.want) || strings.Count(stderr, "\n") != min(len(tt.want), 1) {
				t.Errorf("got standard error %q, want %q", stderr, tt.want)
			}
		})
	}
}
