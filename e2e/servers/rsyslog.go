// SPDX-License-Identifier: Apache-2.0

//go:build linux

package servers

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrNoRsyslog indicates that rsyslogd is not installed, or lacks a module.
var ErrNoRsyslog = errors.New(
	"needs rsyslogd (apt-get install rsyslog rsyslog-relp, rsyslog-gnutls for TLS)")

// An RsyslogConfig configures an rsyslog. The zero value is usable.
type RsyslogConfig struct {
	// Address is the address on which it listens. Defaults to 127.0.0.1.
	Address string

	// Inside is a command that runs another one, like ip netns exec NAME.
	// Defaults to none.
	Inside []string

	// MaxMessage is the maxMessageSize, "64k". Defaults to rsyslog's default.
	MaxMessage string

	// Queue has the parameters of the main queue. Defaults to a LinkedList
	// of 100000 lines in memory.
	Queue string

	// Head precedes the inputs. It may have modules and global settings.
	Head string

	// Actions replace the action that writes the lines to Out.
	Actions string

	// RELP has further parameters of the RELP input, and TCP of the module
	// imtcp, such as TLS.
	RELP, TCP string
}

// An Rsyslog is a child process that takes messages over each transport and
// writes their lines, without headers, to a file.
type Rsyslog struct {
	Dir      string
	Datagram string // path of the socket
	Stream   string // likewise
	TCP      string // host:port
	RELP     string
	Out      string // file of the lines
	Self     string // file of its own messages

	inside []string
	cmd    *exec.Cmd
	output bytes.Buffer
}

// NewRsyslog sets an rsyslog up in dir. Start starts it.
func NewRsyslog(dir string, c RsyslogConfig) (*Rsyslog, error) {
	if _, err := exec.LookPath("rsyslogd"); err != nil {
		return nil, ErrNoRsyslog
	}
	if c.Address == "" {
		c.Address = "127.0.0.1"
	}
	if c.Queue == "" {
		c.Queue = `queue.type="LinkedList" queue.size="100000" queue.dequeueBatchSize="1024" queue.workerThreads="1"`
	}
	r := &Rsyslog{
		Dir: dir, inside: c.Inside,
		Datagram: filepath.Join(dir, "log.sock"), Stream: filepath.Join(dir, "stream.sock"),
		Out: filepath.Join(dir, "out.log"), Self: filepath.Join(dir, "self.log"),
	}
	var ports [2]string
	addrs, err := UnusedAddresses(len(ports))
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		_, ports[i], _ = net.SplitHostPort(addr)
	}
	r.TCP, r.RELP = net.JoinHostPort(c.Address, ports[0]), net.JoinHostPort(c.Address, ports[1])
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		return nil, err
	}
	text := r.config(c, ports)
	if err := os.WriteFile(filepath.Join(dir, "rsyslog.conf"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("rsyslogd", "-N1", "-f", filepath.Join(dir, "rsyslog.conf")).
		CombinedOutput(); err != nil {
		if strings.Contains(string(out), "could not load module") {
			err = ErrNoRsyslog
		}
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return r, nil
}

// StartRsyslog sets an rsyslog up in dir, starts it and waits until it takes
// messages.
func StartRsyslog(dir string, c RsyslogConfig) (*Rsyslog, error) {
	r, err := NewRsyslog(dir, c)
	if err != nil {
		return nil, err
	}
	return r, r.Start()
}

// config returns the whole configuration. Messages longer than maxMessageSize,
// rate limits, the parser for local sockets and the time of arrival would all
// change the received lines.
func (r *Rsyslog) config(c RsyslogConfig, ports [2]string) string {
	size := ""
	if c.MaxMessage != "" {
		size = `maxMessageSize="` + c.MaxMessage + `" `
	}
	if c.Actions == "" {
		c.Actions = `action(type="omfile" file="` + r.Out + `" template="line")`
	}
	return `global(workDirectory="` + r.Dir + `/work" ` + size + `net.enableDNS="off" processInternalMessages="on")
main_queue(` + c.Queue + `)
` + c.Head + `
module(load="imuxsock" SysSock.Use="off")
module(load="imtcp" ` + c.TCP + `)
module(load="imptcp")
module(load="imrelp")
template(name="line" type="string" string="%msg%\n")
template(name="message" type="string" string="%msg%")
input(type="imuxsock" Socket="` + r.Datagram + `" UseSpecialParser="off" ParseHostname="on" RateLimit.Interval="0"
      UseSysTimeStamp="off" IgnoreTimestamp="off" ruleset="lines")
input(type="imptcp" path="` + r.Stream + `" unlink="on" ruleset="lines")
input(type="imtcp" address="` + c.Address + `" port="` + ports[0] + `" ruleset="lines")
input(type="imrelp" address="` + c.Address + `" port="` + ports[1] + `" ruleset="lines" ` + c.RELP + `)
ruleset(name="lines" parser=["rsyslog.rfc5424"]) {
  ` + c.Actions + `
}
syslog.* action(type="omfile" file="` + r.Self + `")
`
}

// Start starts it, at the same addresses again after Stop or Kill, and waits
// until it listens. The system kills it with the test.
func (r *Rsyslog) Start() error {
	args := append(r.inside[:len(r.inside):len(r.inside)],
		"rsyslogd", "-n", "-f", filepath.Join(r.Dir, "rsyslog.conf"), "-i", filepath.Join(r.Dir, "pid"))
	_ = os.Remove(filepath.Join(r.Dir, "pid")) // the file of a process that was killed
	_ = os.Remove(r.Datagram)
	r.cmd = exec.Command(args[0], args[1:]...)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	r.output.Reset()
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	if err := r.cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		if r.listens() {
			return nil
		}
		if time.Now().After(deadline) {
			_ = r.Kill()
			return fmt.Errorf("rsyslogd does not listen: %s", r.output.String())
		}
	}
}

// listens reports whether rsyslog has opened its last socket. It does not
// connect, since the connection would count as one of the test.
func (r *Rsyslog) listens() bool {
	for _, path := range []string{r.Datagram, r.Stream} {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	args := append(r.inside[:len(r.inside):len(r.inside)], "cat", "/proc/net/tcp")
	table, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		return false
	}
	for _, addr := range []string{r.TCP, r.RELP} {
		_, port, _ := net.SplitHostPort(addr)
		var n int
		_, _ = fmt.Sscan(port, &n)
		if !bytes.Contains(table, fmt.Appendf(nil, ":%04X 00000000:0000 0A", n)) {
			return false
		}
	}
	return true
}

// Signal sends it a signal.
func (r *Rsyslog) Signal(s os.Signal) error { return r.cmd.Process.Signal(s) }

// Kill ends it by SIGKILL, which loses the messages in its memory.
func (r *Rsyslog) Kill() error { return r.end(syscall.SIGKILL, stopTimeout) }

// stopTimeout is long enough for an rsyslog whose destinations are up.
const stopTimeout = 2 * time.Minute

// Stop ends it by SIGTERM and waits; after stopTimeout it uses SIGKILL.
func (r *Rsyslog) Stop() error { return r.end(syscall.SIGTERM, stopTimeout) }

// StopWithin is like Stop with another timeout.
func (r *Rsyslog) StopWithin(timeout time.Duration) error { return r.end(syscall.SIGTERM, timeout) }

func (r *Rsyslog) end(s os.Signal, timeout time.Duration) error {
	if r.cmd == nil {
		return nil
	}
	if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(timeout, func() { _ = r.cmd.Process.Kill() })
	defer late.Stop()
	err := r.cmd.Wait()
	r.cmd = nil
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // ended by the signal
	}
	return err
}
