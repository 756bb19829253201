// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

// connectedTCP makes a TCP connection to a listener that accepts and does not
// read.
func connectedTCP(t *testing.T) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = l.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	must.Succeed(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

// option reads an integer option of a socket.
func option(t *testing.T, conn syscall.Conn, level, name int) (value int) {
	t.Helper()
	raw, err := conn.SyscallConn()
	must.Succeed(t, err)
	if ctl := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), level, name) }); ctl != nil || err != nil {
		t.Fatal(ctl, err)
	}
	return value
}

// bound makes a socket that has a port and does not listen.
func bound(t *testing.T) (fd int, addr *syscall.SockaddrInet4) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	must.Succeed(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	own, err := syscall.Getsockname(fd)
	must.Succeed(t, err)
	return fd, own.(*syscall.SockaddrInet4)
}

// TestTCPReceiverMayBeDownAtFirst has a receiver whose port no other socket can
// take while it is down.
func TestTCPReceiverMayBeDownAtFirst(t *testing.T) {
	fd, addr := bound(t)
	r := newReceiver(t, "tcp", readCounted)
	r.addr = fmt.Sprintf("127.0.0.1:%d", addr.Port)
	testDownAtFirst(t, r, func() {
		must.Succeed(t, syscall.Listen(fd, 10))
		copied, err := syscall.Dup(fd)
		must.Succeed(t, err)
		f := os.NewFile(uintptr(copied), "listener")
		defer f.Close()
		l, err := net.FileListener(f)
		must.Succeed(t, err)
		r.serve(l)
	})
}

// unanswered makes a socket that waits for the response to its SYN: the queue
// of the listener is full.
func unanswered(t *testing.T) *net.TCPConn {
	t.Helper()
	listener, addr := bound(t)
	must.Succeed(t, syscall.Listen(listener, 0))
	var last *os.File
	for range 5 {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
		must.Succeed(t, err)
		last = os.NewFile(uintptr(fd), "socket")
		t.Cleanup(func() { _ = last.Close() })
		if err := syscall.Connect(fd, addr); err != nil && !errors.Is(err, syscall.EINPROGRESS) {
			t.Fatal(err)
		}
	}
	conn, err := net.FileConn(last)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

func TestProbeFindsWhatIsNotAcknowledged(t *testing.T) {
	probe, _ := control(unanswered(t))
	if probe == nil {
		t.Fatal("got no probe")
	}
	if !probe().waiting {
		t.Error("a SYN without answer: got nothing waiting")
	}
	conn := connectedTCP(t)
	probe, _ = control(conn)
	if p := probe(); p.waiting || p.unsent || p.age < 0 || p.age > time.Hour {
		t.Errorf("nothing sent: got %+v", p)
	}
	_ = conn.Close()
	if p := probe(); p != (peerState{}) {
		t.Errorf("closed: got %+v", p)
	}
	if probe, quickAck := control(conn); probe != nil || quickAck == nil {
		t.Error("a closed socket has a probe, or no quickAck")
	}
	if probe, quickAck := control(new(net.TCPConn)); probe != nil || quickAck != nil {
		t.Error("no socket: got a probe")
	}
}

// TestProbeFindsWhatIsNotSent checks that data for which the receiver has no
// room is known between the zero-window probes, too, when nothing waits for an
// acknowledgement.
func TestProbeFindsWhatIsNotSent(t *testing.T) {
	conn := connectedTCP(t)
	probe, _ := control(conn)
	go func() {
		for b := make([]byte, 1<<16); ; {
			if _, err := conn.Write(b); err != nil {
				return // the test has ended
			}
		}
	}()
	await.Until(t, "there is unsent data and nothing waits", func() bool {
		p := probe()
		return p.unsent && !p.waiting
	})
}

func TestQuickAckAcknowledgesAtOnce(t *testing.T) {
	conn := connectedTCP(t)
	raw, err := conn.SyscallConn()
	must.Succeed(t, err)
	if ctl := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 0)
	}); ctl != nil || err != nil {
		t.Fatal(ctl, err)
	}
	if got := option(t, conn, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK); got != 0 {
		t.Fatalf("TCP_QUICKACK: got %d before, want 0", got)
	}
	_, quickAck := control(conn)
	quickAck()
	if got := option(t, conn, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK); got != 1 {
		t.Errorf("TCP_QUICKACK: got %d, want 1", got)
	}
}

// If the system cannot distinguish a receiver that does not read from a dead
// one, Timeout applies to both.
func TestWriteTimeoutOfALink(t *testing.T) {
	c := (Config{Timeout: 3 * time.Second, Stall: 30 * time.Second}).withDefaults()
	conn := connectedTCP(t)
	if l := newLink(conn, &c); l.probe == nil || l.writeTimeout != c.Stall {
		t.Errorf("got the timeout %v, probe %v, want %v", l.writeTimeout, l.probe != nil, c.Stall)
	}
	if option(t, conn, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE) == 0 || option(t, conn, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE) != 1 {
		t.Error("an idle receiver that is gone would not be noticed")
	}
	defer func(number uintptr) { getsockoptNumber = number }(getsockoptNumber)
	getsockoptNumber = 0
	if l := newLink(conn, &c); l.probe != nil || l.quickAck == nil || l.writeTimeout != c.Timeout {
		t.Errorf("without TCP_INFO: got the timeout %v, probe %v, want %v", l.writeTimeout, l.probe != nil, c.Timeout)
	}
}

func TestTCPInfoOfWhatHasNone(t *testing.T) {
	var info tcpInfo
	if err := getTCPInfo(^uintptr(0), &info); !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v, want EBADF", err)
	}
}

// A RELP session sends unacknowledged records again, so its end discards
// records that the system still buffers; without RELP those must arrive.
func TestEndOfAFailedConnection(t *testing.T) {
	for network, want := range map[string]error{"relp": syscall.ECONNRESET, "tcp": nil} {
		ended := make(chan error, 1)
		r := newReceiver(t, "tcp", func(r *receiver, conn net.Conn) {
			if network == "relp" {
				if _, err := conn.Write([]byte(respond(1, usualOffers))); err != nil {
					r.fault(err)
				}
			}
			var err error
			for b := make([]byte, 4096); err == nil; {
				_, err = conn.Read(b)
			}
			ended <- err
		}).start()
		d := dial(t, network, r.addr, Config{})
		must.Succeed(t, d.Ping(t.Context()))
		d.link.Load().fail(errSilent)
		if err := <-ended; want != nil && !errors.Is(err, want) || want == nil && err.Error() != "EOF" {
			t.Errorf("%s: the receiver got %v, want %v", network, err, want)
		}
	}
}

// A datagram may be larger than the default buffer of a socket, as far as the
// system allows.
func TestLargeDatagram(t *testing.T) {
	q := newQueue(t)
	line := `{"a":"` + strings.Repeat("x", 300_000) + `"}`
	own, err := net.Dial("unixgram", q.addr)
	must.Succeed(t, err)
	defer own.Close()
	must.Succeed(t, own.(*net.UnixConn).SetWriteBuffer(1<<20))
	if _, err := own.Write([]byte("<1>1 - - - - - - " + line)); errors.Is(err, syscall.EMSGSIZE) {
		t.Skip("the system does not allow datagrams of this size")
	}
	q.line()
	d := dial(t, "unixgram", q.addr, Config{MaxSize: 1 << 20})
	r := record(line, 1)
	res, err := d.Deliver(t.Context(), append(batchOf(0, 0), r))
	if err != nil || len(res.Rejected) != 0 {
		t.Fatalf("got %+v and error %v, want it accepted", res, err)
	}
	if got := q.line(); got != line {
		t.Errorf("got %d bytes, want %d", len(got), len(line))
	}
}
