// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// A script is a connection whose writes have scripted results.
type script struct {
	net.Conn
	steps   []step
	written []byte
	closed  bool
}

type step struct {
	n   int
	err error
}

func (s *script) Write(b []byte) (int, error) {
	if len(s.steps) == 0 {
		s.written = append(s.written, b...)
		return len(b), nil
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.written = append(s.written, b[:step.n]...)
	return step.n, step.err
}

func (s *script) Close() error                     { s.closed = true; return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }

// scripted makes a link that writes to s.
func scripted(s *script, c Config) *link {
	c = c.withDefaults()
	l := newLink(s, &c)
	l.failures = new(atomic.Uint64)
	close(l.done)
	return l
}

// use makes d deliver over l.
func (d *Destination) use(l *link) {
	l.way = networks[d.network].way
	d.link.Store(l)
}

func TestWriteGoesOnWhileThereIsProgress(t *testing.T) {
	full := &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	s := &script{steps: []step{{0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.ENOBUFS)}}, {3, full}, {1, full}, {2, full}}}
	n, err := scripted(s, Config{Stall: 1}).Write([]byte("0123456789"))
	if n != 10 || err != nil || string(s.written) != "0123456789" {
		t.Errorf("got %d, error %v and %q, want all of it once", n, err, s.written)
	}
}

func TestWriteEnds(t *testing.T) {
	full := &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	for name, c := range map[string]struct {
		steps []step
		n     int
		want  error
	}{
		"without room":      {[]step{{4, full}, {0, full}}, 4, delivery.ErrStalled},
		"without memory":    {[]step{{0, syscall.ENOBUFS}, {0, syscall.ENOBUFS}}, 0, delivery.ErrStalled},
		"by the other side": {[]step{{4, syscall.EPIPE}}, 4, syscall.EPIPE},
		"by TCP":            {[]step{{4, syscall.ETIMEDOUT}}, 4, syscall.ETIMEDOUT},
	} {
		l := scripted(&script{steps: c.steps}, Config{Stall: 1})
		n, err := l.Write([]byte("0123456789"))
		if n != c.n || !errors.Is(err, c.want) {
			t.Errorf("%s: got %d and error %v, want %d and %v", name, n, err, c.n, c.want)
		}
	}
}

// After a partial write nothing more is written to the connection.
func TestPartialWriteEndsTheConnection(t *testing.T) {
	for _, network := range []string{"tcp", "relp"} {
		s := &script{steps: []step{{20, &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}}, {0, os.ErrDeadlineExceeded}}}
		l := scripted(s, Config{Stall: 1})
		d := dial(t, network, "127.0.0.1:1", Config{})
		d.session = &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
		d.use(l)
		res, err := d.Deliver(t.Context(), batchOf(0, 3))
		if !errors.Is(err, delivery.ErrStalled) || res.Accepted != 0 || !s.closed || len(s.written) != 20 {
			t.Errorf("%s: got %+v, error %v, closed %v, %d bytes written", network, res, err, s.closed, len(s.written))
		}
		if _, err := d.Deliver(t.Context(), batchOf(0, 3)); err == nil || len(s.written) != 20 {
			t.Errorf("%s: got error %v and %d bytes written, want a new connection", network, err, len(s.written))
		}
	}
}

// The keep-alive probes of an idle receiver end before the timeout, except for
// timeouts that are too short for them.
func TestKeepAlive(t *testing.T) {
	for timeout, seconds := range map[time.Duration]int{
		time.Millisecond: 2, 2 * time.Second: 2, 3 * time.Second: 2, 4 * time.Second: 3, 10 * time.Second: 9, 100 * time.Second: 99,
	} {
		c, want := keepAlive(timeout), time.Duration(seconds)*time.Second
		if got := c.Idle + time.Duration(c.Count)*c.Interval; !c.Enable || got != want {
			t.Errorf("%v: got %v, want %v", timeout, got, want)
		}
	}
}

func TestLook(t *testing.T) {
	const ms = time.Millisecond
	silent := peerState{waiting: true, age: time.Hour}
	full := peerState{unsent: true, age: time.Hour}
	var growing []peerState
	for i := range time.Duration(11) {
		growing = append(growing, peerState{waiting: true, age: i * 100 * ms})
	}
	for name, c := range map[string]struct {
		answers []peerState // 100 ms apart
		want    int         // index of the call of look that gives up, -1 for none
	}{
		"nothing to answer":                {[]peerState{{age: 5 * time.Hour}, {age: 0}}, -1},
		"no answer":                        {slices.Repeat([]peerState{{waiting: true, age: 5 * time.Hour}}, 20), 10},
		"no answer from the start":         {growing, 10},
		"answers come, and more is asked":  {slices.Repeat([]peerState{{waiting: true, age: 30 * ms}}, 50), -1},
		"a question after a long silence":  {append(slices.Repeat([]peerState{silent}, 8), peerState{waiting: true, age: 50 * ms}, peerState{age: 150 * ms}), -1},
		"one answer puts the end off":      {append(slices.Repeat([]peerState{silent}, 8), slices.Repeat([]peerState{{waiting: true, age: 50 * ms}}, 1)...), -1},
		"a window that stays shut":         {slices.Repeat([]peerState{{waiting: true, age: 10 * time.Second}, {age: 10 * time.Second}}, 30), -1},
		"the last answer is before asking": {append([]peerState{{age: time.Hour}}, slices.Repeat([]peerState{{waiting: true, age: 2 * time.Hour}}, 12)...), 11},
		"no room for a long time":          {slices.Repeat([]peerState{full}, 50), -1},
		"no room, asked from time to time": {slices.Repeat([]peerState{full, silent, full}, 20), -1},
		"no room, and no answer":           {append(slices.Repeat([]peerState{full}, 20), slices.Repeat([]peerState{silent}, 20)...), 29},
	} {
		l := scripted(&script{}, Config{Timeout: 1200 * ms})
		now, got := time.Now(), -1
		for i, a := range c.answers {
			l.probe = func() peerState { return a }
			l.watching.Store(true)
			if err := l.look(now); err != nil {
				if got = i; err != errSilent {
					t.Errorf("%s: got error %v, want errSilent", name, err)
				}
				break
			}
			if want := a.waiting || a.unsent; l.watching.Load() != want {
				t.Errorf("%s, look %d: watching is %v, want %v", name, i, l.watching.Load(), want)
			}
			now = now.Add(100 * ms)
		}
		if got != c.want {
			t.Errorf("%s: look %d has given up, want %d", name, got, c.want)
		}
	}
}

// A Write between the two probes has found Read watching, so it has set no
// deadline. The first deadline is a tick after the write.
func TestLookMissesNoWrite(t *testing.T) {
	for _, second := range []peerState{{}, {waiting: true}, {unsent: true}} {
		s := &deadlines{}
		l := scripted(&s.script, Config{Timeout: 12 * time.Second})
		l.Conn = s
		answers := []peerState{{}, second}
		l.probe = func() peerState {
			defer func() { answers = answers[1:] }()
			return answers[0]
		}
		more := second != (peerState{})
		l.watching.Store(true)
		now := time.Now()
		if err := l.look(now); err != nil || l.watching.Load() != more {
			t.Errorf("%+v: got error %v, watching %v", second, err, l.watching.Load())
		}
		want := []time.Time{{}}
		if more {
			want = append(want, now.Add(time.Second))
		}
		if !slices.Equal(s.read, want) {
			t.Errorf("%+v: got deadlines %v, want %v", second, s.read, want)
		}
	}
}

// deadlines is a connection that records its read deadlines.
type deadlines struct {
	script
	read []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = append(d.read, t)
	return nil
}

// tooMuch makes more records than the system buffers for a connection.
func tooMuch() (batch []nib.Record, lines []string) {
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"pad":"%s"}`, i, strings.Repeat("x", 2000)))
		batch = append(batch, record(lines[i], i))
	}
	return batch, lines
}

// connectAs makes a connection with a modified link: only one of its times is
// short, so that no other timeout can fire first.
func (d *Destination) connectAs(t *testing.T, change func(*link)) {
	t.Helper()
	conn, err := net.Dial(d.network, d.addr)
	must.Succeed(t, err)
	l := newLink(conn, &d.config)
	l.failures = &d.counters.failures
	change(l)
	d.use(l)
	go l.drain()
}

// A stopped reader gets everything that was accepted when it resumes, and the
// rest through another connection.
func TestStreamReaderIsFrozen(t *testing.T) {
	for _, network := range seed.Some(t, 2, []string{"unix", "tcp"}) {
		thaw := make(chan struct{})
		r := newReceiver(t, network, func(r *receiver, conn net.Conn) {
			<-thaw
			readCounted(r, conn)
		}).start()
		goOn := sync.OnceFunc(func() { close(thaw) })
		t.Cleanup(goOn)
		d := dial(t, network, r.addr, Config{})
		d.connectAs(t, func(l *link) { l.tick, l.writeTimeout = 100*time.Millisecond, 300*time.Millisecond })
		batch, want := tooMuch()
		n := len(batch)
		res, err := d.Deliver(t.Context(), batch)
		if !errors.Is(err, delivery.ErrStalled) || res.Accepted == 0 || res.Accepted == n {
			t.Fatalf("%s: got %d accepted and error %v, want some and delivery.ErrStalled", network, res.Accepted, err)
		}
		goOn()
		if got := r.lines(res.Accepted); !slices.Equal(got, want[:res.Accepted]) {
			t.Fatalf("%s: got %d lines, want %d", network, len(got), res.Accepted)
		}
		r.wait("the first connection to end", func() bool { return len(r.conns) == 0 })
		deliver(t, d, batch[res.Accepted:])
		if got := r.lines(n); !slices.Equal(got, want) {
			t.Errorf("%s: got %d lines, want %d in order", network, len(got), n)
		}
	}
}

// A receiver that resets the connection gets the batch again.
func TestStreamIsReset(t *testing.T) {
	batch, want := tooMuch()
	n := len(batch)
	var later atomic.Bool // connections may overlap
	r := newReceiver(t, "tcp", func(r *receiver, conn net.Conn) {
		if later.Swap(true) {
			readCounted(r, conn)
			return
		}
		_, _ = io.ReadFull(conn, make([]byte, 1000))
		_ = conn.(*net.TCPConn).SetLinger(0)
	}).start()
	d := dial(t, "tcp", r.addr, Config{})
	res, err := d.Deliver(t.Context(), batch)
	if err == nil || res.Accepted != 0 {
		t.Fatalf("got %+v and error %v, want none accepted and an error", res, err)
	}
	if strings.Contains(err.Error(), "->") {
		t.Errorf("the error has the number of a local port: %v", err)
	}
	insist(t, d, batch)
	if got := r.lines(n); !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d in order", len(got), len(want))
	}
	if st := d.Stats(); st.Doubtful == 0 || st.Failures != 1 || st.Accepted != uint64(n) {
		t.Errorf("got %+v, want some doubtful", st)
	}
}

// An ending is a connection that accepts all writes and then returns an error.
type ending struct {
	script
	say func() error
}

func (e *ending) Write(b []byte) (int, error) {
	e.written = append(e.written, b...)
	return len(b), e.say()
}

// Each time the receiver ends the connection, less is sent, and nothing is
// settled, whatever it accepts of another spool.
func TestStreamSendsLessAfterEachEnd(t *testing.T) {
	d := dial(t, "tcp", "127.0.0.1:1", Config{})
	for _, want := range []int{8, 4, 2, 1, 1} {
		e := &ending{say: func() error { return syscall.EPIPE }}
		l := scripted(&e.script, Config{})
		l.Conn = e
		d.use(l)
		res, err := d.Deliver(t.Context(), batchOf(0, 8))
		if got := strings.Count(string(e.written), "hello"); got != want || err == nil || res.Accepted != 0 {
			t.Errorf("got %d sent, %+v and error %v, want %d sent and none accepted", got, res, err, want)
		}
		other := batchOf(0, 8)
		for i := range other {
			other[i].Spool = 9
		}
		d.use(scripted(&script{}, Config{}))
		if res, err := d.Deliver(t.Context(), other); res.Accepted != 8 || err != nil {
			t.Errorf("another spool: got %+v and error %v, want all accepted", res, err)
		}
	}
	for _, want := range []int{1, 2, 4, 8} {
		s := &script{}
		d.use(scripted(s, Config{}))
		if res, err := d.Deliver(t.Context(), batchOf(0, 8)); res.Accepted != want || err != nil {
			t.Errorf("got %+v and error %v, want %d accepted", res, err, want)
		}
	}
}

// The reading goroutine may detect the end while the last bytes are written.
func TestStreamEndsWhileItIsWrittenTo(t *testing.T) {
	d := dial(t, "tcp", "127.0.0.1:1", Config{})
	e := &ending{}
	l := scripted(&e.script, Config{})
	l.Conn = e
	e.say = func() error { l.fail(errEnded); return nil }
	d.use(l)
	res, err := d.Deliver(t.Context(), batchOf(0, 8))
	if !errors.Is(err, errEnded) || res.Accepted != 0 {
		t.Errorf("got %+v and error %v, want none accepted and errEnded", res, err)
	}
}

// If a receiver ends the connection whenever it gets a certain record, the
// records before it are settled, and that record as well.
func TestRecordThatEndsEachConnection(t *testing.T) {
	const n, poison = 1000, 700
	r := newReceiver(t, "tcp", func(r *receiver, conn net.Conn) {
		b := bufio.NewReader(conn)
		for {
			m, err := nextCounted(b)
			if err != nil || strings.HasSuffix(m, lineOf(poison)) {
				return
			}
			r.got(m)
		}
	}).start()
	d := dial(t, "tcp", r.addr, Config{})
	insist(t, d, batchOf(0, n))
	seen := map[string]bool{}
	r.wait("what comes before the record", func() bool {
		for _, m := range r.messages {
			seen[m[strings.Index(m, "{"):]] = true
		}
		return !slices.ContainsFunc(linesOf(0, poison), func(line string) bool { return !seen[line] })
	})
}
