// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

// A proxy is between the sender and rsyslog, and can break connections as
// networks do.
type proxy struct {
	t        *testing.T
	listener net.Listener
	to       string
	rate     int // bytes a second towards rsyslog, 0 for all
	running  sync.WaitGroup

	mu    sync.Mutex
	pairs map[*pair]bool
}

// A pair is one connection through the proxy.
type pair struct {
	near, far *net.TCPConn
	hung      chan struct{} // closed: nothing passes any more
	once      sync.Once
}

func newProxy(t *testing.T, to string, rate int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	p := &proxy{t: t, listener: l, to: to, rate: rate, pairs: map[*pair]bool{}}
	p.running.Add(1)
	go p.run()
	t.Cleanup(func() {
		_ = l.Close()
		p.each(func(c *pair) { _, _ = c.near.Close(), c.far.Close() })
		p.running.Wait()
	})
	return p
}

func (p *proxy) run() {
	defer p.running.Done()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = conn.Close()
			continue
		}
		c := &pair{near: conn.(*net.TCPConn), far: far.(*net.TCPConn), hung: make(chan struct{})}
		p.mu.Lock()
		p.pairs[c] = true
		p.mu.Unlock()
		p.running.Add(2)
		go p.pass(c, c.far, c.near, p.rate)
		go p.pass(c, c.near, c.far, 0)
	}
}

// pass copies in one direction until either end is gone.
func (p *proxy) pass(c *pair, to, from *net.TCPConn, rate int) {
	defer p.running.Done()
	buf := make([]byte, 16<<10)
	if rate > 0 {
		buf = buf[:max(rate/20, 1)]
	}
	for {
		quickAck(from)
		n, err := from.Read(buf)
		select {
		case <-c.hung:
			_, _ = io.Copy(io.Discard, from) // reads everything, answers nothing
			err = io.EOF
		default:
			if n > 0 {
				_, _ = to.Write(buf[:n])
			}
		}
		if rate > 0 {
			time.Sleep(time.Second * time.Duration(n) / time.Duration(rate))
		}
		if err != nil {
			_, _ = c.near.Close(), c.far.Close()
			p.mu.Lock()
			delete(p.pairs, c)
			p.mu.Unlock()
			return
		}
	}
}

// quickAck has the system acknowledge at once. rsyslog waits for that before it
// sends the next of its short responses, and the proxy must not delay the
// sender.
func quickAck(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) })
}

// each calls f for all connections.
func (p *proxy) each(f func(*pair)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		f(c)
	}
}

// flap breaks all connections in one of three ways.
func (p *proxy) flap(way int) {
	p.each(func(c *pair) {
		switch way % 3 {
		case 0: // FIN
			_, _ = c.near.Close(), c.far.Close()
		case 1: // RST
			_, _ = c.near.SetLinger(0), c.far.SetLinger(0)
			_, _ = c.near.Close(), c.far.Close()
		case 2: // hang
			c.once.Do(func() { close(c.hung) })
		}
	})
}

// TestE2EFlap breaks the connection many times: by an end, a reset, and
// silence.
func TestE2EFlap(t *testing.T) {
	const window = 64
	flaps := counts(40, 200)
	for _, network := range []string{"relp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			r := start(t, servers.RsyslogConfig{Queue: direct})
			p := newProxy(t, address(r, network), 0)
			d := dial(t, network, p.listener.Addr().String(), syslog.Config{Window: window, Timeout: 100 * time.Millisecond})
			v := newService(t, d)
			done := 0
			for done < flaps {
				way := done % 3
				if network != "relp" && way == 2 {
					way = 1 // with plain TCP it cannot be detected that lines are not read
				}
				before, began := d.Stats().Connects, time.Now()
				for n := 0; d.Stats().Connects == before; n++ {
					if n%500 == 0 {
						p.flap(way) // again if the connection was too new for the proxy
					}
					if time.Since(began) > patience {
						t.Fatalf("break %d: no new connection; %+v", done, d.Stats())
					}
					time.Sleep(time.Millisecond)
				}
				done++
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			}
			logged := v.stop()
			st := d.Stats()
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond) // for the bytes in the proxy
			if err := r.Stop(); err != nil {
				t.Error(err)
			}
			got := count(t, r.Out, logged, 0)
			t.Logf("%-4s %d flaps, %d lines: %v; %d doubtful for the sender", network, flaps, logged, got, st.Doubtful)
			most := min(int(st.Doubtful), int(st.Connects)*window) // a busy machine exceeds the Timeout, too
			if network == "relp" && (got.lost > 0 || got.twice > most) {
				t.Errorf("want none lost, and %d twice at most", most)
			}
		})
	}
}

// TestE2ESlow lets 10 KB a second through: callers do not notice, memory stays,
// and all is delivered when the link is good again.
func TestE2ESlow(t *testing.T) {
	r := start(t, servers.RsyslogConfig{Queue: direct})
	p := newProxy(t, r.RELP, 10_000)
	d := dial(t, "relp", p.listener.Addr().String(), syslog.Config{Window: 16})
	v := newService(t, d)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	time.Sleep(time.Second)
	before := heap()
	time.Sleep(time.Duration(counts(1, 10)) * time.Second)
	await.Until(t, "lines are delivered", func() bool { return v.spool.Stats().Delivered > 0 })
	after := heap()
	st := v.spool.Stats()
	t.Logf("heap of %d KiB, then %d KiB; %d lines delivered meanwhile, %d pending", before>>10, after>>10, st.Delivered, st.Pending)
	if st.Delivered == 0 || st.Lost() > 0 {
		t.Errorf("the spool says %+v, want some delivered and none lost", st)
	}
	close(v.quit) // the rest would take minutes
	<-v.done
}
