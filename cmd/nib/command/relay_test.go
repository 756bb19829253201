// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/embedded"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink/spool"
)

// TestRelayOnce delivers to a file, and has nothing to do the second time.
func TestRelayOnce(t *testing.T) {
	dir, file := kept(t, 1000), filepath.Join(t.TempDir(), "out.log")
	lines := want(t, "spool", "cat", dir)
	for _, delivered := range []string{"1,000", "0"} {
		code, stdout, stderr := run("relay", dir, "--to", "file:"+file, "--once")
		if code != 0 || columns(t, stdout, "delivered")[0] != delivered || columns(t, stdout, "pending")[0] != "0" {
			t.Errorf("got code %d\n%s%s", code, stdout, stderr)
		}
		if b, _ := os.ReadFile(file); string(b) != lines {
			t.Errorf("got %d bytes in the file, want %d", len(b), len(lines))
		}
	}
	if got := strings.Join(columns(t, want(t, "spool", "ls", dir), dir), " "); !strings.HasSuffix(got, "0 - - file 0") {
		t.Errorf("afterwards: %s", got)
	}
}

// TestRelayWatches takes the spool of a process when that has ended, and ends
// with a signal.
func TestRelayWatches(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "spool"), filepath.Join(t.TempDir(), "out.log")
	s := keep(t, dir, 100, spool.Config{Name: "file"})
	cmd := child("relay", dir, "--to", "file:"+file, "--grace", "1ms")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	must(t, err, cmd.Start(), s.Close())
	defer func() { _ = cmd.Process.Kill() }() // if it has not ended
	lines := bufio.NewScanner(stderr)
	var all []string
	for lines.Scan() {
		if all = append(all, lines.Text()); strings.Contains(lines.Text(), "100 delivered") {
			must(t, cmd.Process.Signal(syscall.SIGTERM))
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("got %v\n%s", err, strings.Join(all, "\n"))
	}
	if got := columns(t, stdout.String(), "delivered")[0]; got != "100" {
		t.Errorf("got\n%s", &stdout)
	}
	if b, _ := os.ReadFile(file); strings.Count(string(b), "\n") != 100 {
		t.Errorf("got %d lines in the file, want 100", strings.Count(string(b), "\n"))
	}
}

// TestRelayAfterAKill kills a service that delivers to a file, and delivers the
// rest to the same file: each line that the service has reported is there
// exactly once.
func TestRelayAfterAKill(t *testing.T) {
	kept(t, 1) // skips where there are no spools
	dir := t.TempDir()
	service := exec.Command(os.Args[0])
	service.Env = append(os.Environ(), asService+"="+dir)
	service.Stderr = os.Stderr
	out, err := service.StdoutPipe()
	must(t, err, service.Start())
	lastAnnounced := -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lastAnnounced++; lastAnnounced == 3000 {
			must(t, service.Process.Kill())
		}
	}
	_ = service.Wait() // it was killed
	to := "file:" + filepath.Join(dir, "out.log")
	if code, stdout, stderr := run("relay", filepath.Join(dir, "spool"), "--to", to, "--once"); code != 0 {
		t.Errorf("got code %d\n%s%s", code, stdout, stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "out.log"))
	must(t, err)
	n := 0
	for text := range strings.Lines(string(b)) {
		if want := string(line(n)); text != want {
			t.Fatalf("line %d: got %q, want %q", n, text, want)
		}
		n++
	}
	if n <= lastAnnounced {
		t.Errorf("got %d lines, want the %d that were lastAnnounced of", n, lastAnnounced+1)
	}
}

// TestRelayToKafka delivers to a cluster in this process.
func TestRelayToKafka(t *testing.T) {
	cluster, err := embedded.Start(embedded.Config{Topic: "logs"})
	must(t, err)
	defer cluster.Close()
	dir := kept(t, 1000)
	text := want(t, "spool", "cat", dir)
	code, stdout, stderr := run("relay", dir, "--to", "kafka://"+strings.Join(cluster.Addrs(), ",")+"/logs", "--once")
	if code != 0 || columns(t, stdout, "delivered")[0] != "1,000" {
		t.Errorf("got code %d\n%s%s", code, stdout, stderr)
	}
	var got strings.Builder
	must(t, topic.Read(t.Context(), cluster.Addrs(), "logs", func(m topic.Message) bool {
		got.Write(m.Value)
		got.WriteByte('\n')
		return true
	}))
	if got.String() != text {
		t.Errorf("got %d bytes in the topic, want %d", got.Len(), len(text))
	}
}

// TestRelayToSyslog delivers to a receiver that counts octets.
func TestRelayToSyslog(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	received := make(chan string)
	go func() {
		c, err := l.Accept()
		if err != nil {
			close(received)
			return
		}
		b, _ := io.ReadAll(c) // whatever was received
		_ = c.Close()
		received <- string(b)
	}()
	code, stdout, stderr := run("relay", kept(t, 3), "--to", "syslog+tcp://"+l.Addr().String()+"?app=shop&facility=local3", "--once")
	if code != 0 || columns(t, stdout, "delivered")[0] != "3" {
		t.Errorf("got code %d\n%s%s", code, stdout, stderr)
	}
	got := <-received
	for n := range 3 {
		if want := strings.TrimSpace(string(line(n))); !strings.Contains(got, " shop ") || !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestRelayExitCodes(t *testing.T) {
	dir := kept(t, 10)
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stderr string
	}{
		{"no target", []string{dir}, 1, `required flag(s) "to"`},
		{"names are missing", []string{dir, "--to", "file:x", "--to", "file=file:y"}, 1, "each needs a name"},
		{"one name", []string{dir, "--to", "a=file:x", "--to", "A=file:y", "--once"}, 1, `have the name "A"`},
		{"bad name", []string{dir, "--to", "a b=file:x"}, 1, `"a b" is not the name`},
		{"unknown target", []string{dir, "--to", "carrier:pigeon", "--once"}, 1, "want file:PATH, syslog+tcp://HOST:PORT"},
		{"no spool", []string{filepath.Join(dir, "x"), "--to", "file:x", "--once"}, 1, "no such file"},
		{"no deliver timeout", []string{dir, "--to", "file:x", "--deliver-timeout", "0"}, 1, "not 0"},
		{"no folder for the file", []string{dir, "--to", "file:/none/x", "--once"}, 3, "10 lines are still pending"},
		{"no receiver", []string{dir, "--to", "syslog+relp://127.0.0.1:1", "--once", "--deliver-timeout", "50ms"}, 3, "10 lines are still pending"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := run(append([]string{"relay"}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.stderr) {
				t.Errorf("got code %d, %s and %s; want %d and %q", code, stdout, stderr, c.code, c.stderr)
			}
		})
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	must(t, err)
	b, err := os.ReadFile(names[0])
	must(t, err)
	b[4096+100] ^= 1
	must(t, os.WriteFile(names[0], b, 0o600))
	code, stdout, stderr := run("relay", dir, "--to", "file:"+filepath.Join(t.TempDir(), "out"), "--once")
	if code != 2 || columns(t, stdout, "delivered")[0] != "9" || columns(t, stdout, "damaged")[0] != "1" {
		t.Errorf("damaged: got code %d\n%s%s", code, stdout, stderr)
	}
}

func TestRelayTargets(t *testing.T) {
	for text, want := range map[string]string{
		"file:a,file:b":                  "one --to for each target",
		"file:a?buffer=64KiB":            "buffer is not for a file behind a spool",
		"file:a?spool=/x":                "spool: there is no such setting",
		"file:a?max_size=lots":           `max_size: "lots" is not a size`,
		"/var/log/a.log":                 "is a path: write file:/var/log/a.log",
		"relp://logs:2514":               "did you mean syslog+relp?",
		"syslog+tls://logs:6514?ca=/x":   "ca: there is no such setting",
		"kafka://a:9/l?partitioning=x":   `partitioning: "x" is not a partitioning`,
		"kafka://a:9/l?key_field=user":   "key_field: there is no such setting",
		"kafka://me:hunter2@a:9/l":       "does not belong in a target",
		"kafka://a:9/l?password=hunter2": "does not belong in a target",
	} {
		code, stdout, stderr := run("relay", t.TempDir(), "--to", text, "--once")
		if code != 1 || !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%s: got code %d, %s and %s; want %q", text, code, stdout, stderr, want)
		}
	}
	help := want(t, "relay", "--help")
	if strings.Contains(help, "?buffer=") {
		t.Error("the help has a parameter that a relay does not take")
	}
	for _, form := range []string{"file:PATH", "syslog+relp+tls://HOST:PORT", "kafka://HOST:PORT,HOST:PORT/TOPIC", "?max_size=", "?facility=", "?compression="} {
		if !strings.Contains(help, form) {
			t.Errorf("the help does not have %s:\n%s", form, help)
		}
	}
}

// A service that is configured by its environment ends while its brokers are
// down; a relay with the same target delivers its lines.
func TestRelayTakesTheTargetOfAService(t *testing.T) {
	kept(t, 1) // skips where there are no spools
	cluster, err := embedded.Start(embedded.Config{Topic: "logs"})
	must(t, err)
	defer cluster.Close()
	dir := t.TempDir()
	at := func(broker string) string { return "kafka://" + broker + "/logs?compression=zstd&key=user" }
	t.Setenv("NIB_OUTPUT", at("127.0.0.1:1")+"&spool="+dir)
	log, err := setup.Open(setup.FromEnv("NIB"), setup.Kinds(kafka.Kind), setup.Config{Signals: setup.SwitchOff, Timeout: time.Second})
	must(t, err)
	log.Info().Str("user", "ann").Msg("left behind")
	if log.Close() == nil {
		t.Error("Close without a broker: got no error")
	}
	await.Until(t, "the spool is released, which may take longer than Close", func() bool {
		return spool.OwnerOf(filepath.Join(dir, "slot-0001")) == spool.OwnerNone
	})
	code, stdout, stderr := run("relay", dir, "--to", at(cluster.Addrs()[0]), "--once")
	if code != 0 || columns(t, stdout, "delivered")[0] != "1" {
		t.Errorf("got code %d\n%s%s", code, stdout, stderr)
	}
	must(t, topic.Read(t.Context(), cluster.Addrs(), "logs", func(m topic.Message) bool {
		if string(m.Key) != "ann" || !strings.Contains(string(m.Value), "left behind") {
			t.Errorf("got %q: %s", m.Key, m.Value)
		}
		return true
	}))
}
