// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rsyslog

import (
	"bytes"
	_ "embed"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/e2e/servers"
)

//go:embed rsyslog.conf
var configuration string

// Start starts an rsyslog with the configuration, in which only paths and
// addresses are changed. It ends with the test, which is skipped if there is no
// rsyslog.
func Start(t testing.TB, brokers []string) *servers.Rsyslog {
	t.Helper()
	if _, err := exec.LookPath("rsyslogd"); err != nil {
		t.Skip("needs rsyslogd (apt-get install rsyslog rsyslog-kafka rsyslog-relp)")
	}
	dir, err := os.MkdirTemp("", "nib") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := servers.UnusedAddresses(2)
	if err != nil {
		t.Fatal(err)
	}
	r := &servers.Rsyslog{
		Dir: dir, Datagram: filepath.Join(dir, "nib.sock"), Stream: filepath.Join(dir, "nib.sock"),
		TCP: addrs[0], RELP: addrs[1], Self: filepath.Join(dir, "self.log"),
	}
	conf := configuration
	for _, change := range [][2]string{
		{"/var/spool/rsyslog", filepath.Join(dir, "work")},
		{"/run/rsyslog/nib.sock", r.Stream},
		{"/var/log/rsyslog-self.log", r.Self},
		{`port="10514"`, port(r.TCP)},
		{`port="20514"`, port(r.RELP)},
		{`["127.0.0.1:9092"]`, `["` + strings.Join(brokers, `","`) + `"]`},
	} {
		if !strings.Contains(conf, change[0]) {
			t.Fatalf("the configuration has no %s", change[0])
		}
		conf = strings.ReplaceAll(conf, change[0], change[1])
	}
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "rsyslog.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("rsyslogd", "-N1", "-f", path).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("could not load module")) {
			t.Skipf("needs rsyslog-kafka and rsyslog-relp: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	} else if bytes.Contains(out, []byte("warning")) || bytes.Contains(out, []byte("error")) {
		t.Errorf("rsyslogd -N1: %s", out)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Kill()
		if t.Failed() {
			self, _ := os.ReadFile(r.Self)
			t.Logf("rsyslog says: %s", self)
		}
		_ = os.RemoveAll(dir)
	})
	return r
}

// port returns the parameter for the port of an address.
func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr)
	return `port="` + p + `"`
}
