// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

func init() { roles["rights"] = reportRights }

// reportRights opens a Log configured by the environment, and with a monitor.
func reportRights(Config) {
	if _, err := Open(Config{Crash: SwitchOn}); err != nil {
		_, _ = io.WriteString(os.Stdout, err.Error()+"\n")
	}
	l, err := Open(FromEnv(""), Config{Signals: SwitchOff, Reopen: SwitchOff})
	if err != nil {
		panic(err)
	}
	l.Info().Msg("by default on standard output")
	_ = l.Close()
}

// asOther runs a copy of this program, modified by change, as another user, and
// returns its output.
func asOther(t *testing.T, change func(path string) error, env ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("gives rights to a program: needs root")
	}
	dir, err := os.MkdirTemp(rightsDir, "nib-rights")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	must.Succeed(t, err)
	path := filepath.Join(dir, "service")
	must.Succeed(t, os.WriteFile(path, self, 0o755))
	must.Succeed(t, os.Chmod(dir, 0o777))
	if err := change(path); err != nil {
		t.Skipf("cannot give rights to a file here: %v", err)
	}
	cmd := exec.Command(path)
	cmd.Dir = dir
	cmd.Env = append(env, roleVar+"=rights", configVar+"={}", "NIB_OUTPUT=file:"+filepath.Join(dir, "chosen.log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "chosen.log")); err == nil {
		return string(out) + "file: " + string(text)
	}
	return string(out)
}

const rightsDir = "/var/tmp"

// needRights skips the test where the rights of a file are ignored.
func needRights(t *testing.T) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(rightsDir, &fs); err == nil && fs.Flags&syscall.MS_NOSUID != 0 {
		t.Skipf("%s is mounted with nosuid", rightsDir)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil && strings.Contains(string(status), "NoNewPrivs:\t1\n") {
		t.Skip("no_new_privs is set")
	}
}

// netBindService returns the extended attribute of a file with the capability
// to listen on low ports, permitted and effective (struct vfs_cap_data).
func netBindService() []byte {
	b := make([]byte, 20)
	binary.LittleEndian.PutUint32(b, 0x02000001)
	binary.LittleEndian.PutUint32(b[4:], 1<<10)
	return b
}

// TestProgramWithOtherRightsTrustsNoEnvironment gives a program rights that its
// user does not have: it takes neither its configuration nor the orders of a
// monitor from the environment, and does not start itself.
func TestProgramWithOtherRightsTrustsNoEnvironment(t *testing.T) {
	orders := monitorVar + `={"Config":{"output":["file:/var/tmp/nib-rights-orders"]},"PID":1}`
	for _, c := range []struct {
		name   string
		change func(string) error
	}{
		{"file capabilities", func(path string) error { return syscall.Setxattr(path, "security.capability", netBindService(), 0) }},
		{"set-uid", func(path string) error { return os.Chmod(path, 0o755|os.ModeSetuid) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			needRights(t)
			for _, env := range [][]string{nil, {orders}} {
				got := asOther(t, c.change, env...)
				if !strings.Contains(got, errOtherRights.Error()) || !strings.Contains(got, "by default on standard output") || strings.Contains(got, "file: ") ||
					!strings.Contains(got, "nib/setup: ignored NIB_OUTPUT: ") {
					t.Errorf("environment %q: got\n%s", env, got)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		got := asOther(t, func(string) error { return nil })
		if !strings.Contains(got, "file: ") || strings.Contains(got, errOtherRights.Error()) || strings.Contains(got, "ignored") {
			t.Errorf("got\n%s\nwant what the environment says", got)
		}
	})
}

func TestOtherRightsAreReadFromAuxv(t *testing.T) {
	auxv := func(words ...uint) (b []byte) {
		for _, w := range words {
			b = appendWord(b, w)
		}
		return b
	}
	for _, c := range []struct {
		name string
		auxv []byte
		want bool
	}{
		{"no", auxv(6, 4096, atSecure, 0, 0, 0), false},
		{"yes", auxv(6, 4096, atSecure, 1, 0, 0), true},
		{"a value like it", auxv(6, atSecure, atSecure, 0), false},
		{"not there", auxv(6, 4096, 0, 0), true},
		{"cut off", auxv(6, 4096, atSecure), true},
		{"empty", nil, true},
	} {
		if got := isSecure(c.auxv); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func appendWord(b []byte, w uint) []byte {
	if ^uint(0)>>32 == 0 {
		return binary.NativeEndian.AppendUint32(b, uint32(w))
	}
	return binary.NativeEndian.AppendUint64(b, uint64(w))
}
