// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package syslog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

// A silentConn accepts and returns nothing: its calls last until their
// deadline. Its clock is the bubble's.
type silentConn struct {
	script
	takes      bool  // whether writes are accepted
	full       error // returned by a write at once; nil: none
	writes     int
	reads      int
	write      time.Time
	read       atomic.Pointer[time.Time]
	noDeadline error // of SetWriteDeadline
	changed    chan struct{}
}

func (q *silentConn) SetWriteDeadline(t time.Time) error { q.write = t; return q.noDeadline }

func (q *silentConn) SetReadDeadline(t time.Time) error {
	q.read.Store(&t)
	select {
	case q.changed <- struct{}{}:
	default:
	}
	return nil
}

func (q *silentConn) Write(b []byte) (int, error) {
	q.writes++
	switch {
	case q.takes:
		return len(b), nil
	case q.full != nil:
		return 0, q.full
	}
	time.Sleep(time.Until(q.write))
	return 0, os.ErrDeadlineExceeded
}

func (q *silentConn) Read([]byte) (int, error) {
	q.reads++
	for {
		var passed <-chan time.Time
		if at := q.read.Load(); at != nil && !at.IsZero() {
			passed = time.After(time.Until(*at))
		}
		select {
		case <-passed:
			return 0, os.ErrDeadlineExceeded
		case <-q.changed:
		}
	}
}

// silentLink makes a link with a tick of 1 s.
func silentLink(q *silentConn, c Config) *link {
	q.changed = make(chan struct{}, 1)
	c.Timeout = 12 * time.Second
	l := scripted(&q.script, c)
	l.Conn = q
	return l
}

// TestWriteWithoutRoom checks that the timeout counts from the first tick in
// which nothing was accepted; at the end of a session that tick is enough.
func TestWriteWithoutRoom(t *testing.T) {
	for name, c := range map[string]struct {
		full   error
		ending bool
		want   time.Duration
		writes int
	}{
		"for Stall":              {nil, false, 6 * time.Second, 6},
		"while Close waits":      {nil, true, 2 * time.Second, 2},
		"of the system":          {syscall.ENOBUFS, false, 5 * time.Second, 5001},
		"of the system at Close": {syscall.ENOBUFS, true, time.Millisecond, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := &silentConn{full: c.full}
			l := silentLink(q, Config{Stall: 5 * time.Second})
			l.ending.Store(c.ending)
			start := time.Now()
			_, err := l.Write([]byte("x"))
			if took := time.Since(start); !errors.Is(err, delivery.ErrStalled) || took != c.want || q.writes != c.writes {
				t.Errorf("no room %s: got %v after %v and %d writes, want %v and %d", name, err, took, q.writes, c.want, c.writes)
			}
		})
	}
}

func TestWriteToAClosedSocket(t *testing.T) {
	closed := errors.New("closed")
	l := silentLink(&silentConn{noDeadline: closed}, Config{})
	if n, err := l.Write([]byte("x")); n != 0 || !errors.Is(err, closed) {
		t.Errorf("got %d and %v, want %v", n, err, closed)
	}
}

// The receiver is silent from the first write on. Further writes, with or
// without room, do not delay the end.
func TestReadEndsWhenTheReceiverIsSilent(t *testing.T) {
	for _, takes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := &silentConn{takes: takes}
			l := silentLink(q, Config{Stall: time.Hour})
			var since atomic.Pointer[time.Time]
			var over atomic.Bool
			l.probe = func() peerState {
				if at := since.Load(); at != nil {
					return peerState{waiting: true, age: time.Since(*at)}
				}
				return peerState{}
			}
			ended := make(chan error)
			go func() {
				_, err := l.Read(make([]byte, 1))
				ended <- err
			}()
			await.Sleep(time.Hour)
			if synctest.Wait(); q.reads != 1 {
				t.Errorf("takes %v: got %d reads in an idle hour, want 1", takes, q.reads)
			}
			start := time.Now()
			since.Store(&start)
			wrote := make(chan struct{})
			go func() {
				defer close(wrote)
				for !over.Load() {
					if _, err := l.Write([]byte("x")); err != nil {
						return
					}
					time.Sleep(l.tick / 3)
				}
			}()
			err := <-ended
			if took := time.Since(start); !errors.Is(err, errSilent) || took < 10*time.Second || took > 12*time.Second {
				t.Errorf("takes %v: got %v after %v, want errSilent after 10 to 12 s", takes, err, took)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			l.ctx.Store(&ctx) // ends a Write without room
			over.Store(true)
			<-wrote
		})
	}
}

// A receiver that responds slowly gets all the time that it needs; a silent
// one gets the timeout.
func TestRELPWaitsFromResponseToResponse(t *testing.T) {
	for _, c := range []struct {
		between time.Duration
		want    int
	}{{9 * time.Second, 6}, {13 * time.Second, 0}} {
		synctest.Test(t, func(t *testing.T) {
			d := dial(t, "relp", "127.0.0.1:1", Config{})
			d.session = &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
			l := silentLink(&silentConn{takes: true}, Config{})
			d.use(l)
			responded := make(chan struct{})
			go func() {
				defer close(responded)
				for number := 2; number < 8; number++ {
					if time.Sleep(c.between); l.err() != nil {
						return
					}
					if err := d.session.take(frame{number: number, command: []byte("rsp"), data: []byte("200 OK")}); err != nil {
						t.Error(err)
					}
				}
			}()
			start := time.Now()
			res, err := d.Deliver(t.Context(), batchOf(0, 6))
			if res.Accepted != c.want || (err == nil) != (c.want == 6) {
				t.Errorf("every %v: got %+v and error %v, want %d accepted", c.between, res, err, c.want)
			}
			if took := time.Since(start); err != nil && (!errors.Is(err, errSilent) || took < 10*time.Second || took > 12*time.Second) {
				t.Errorf("every %v: got %v after %v, want errSilent after 10 to 12 s", c.between, err, took)
			}
			<-responded
		})
	}
}

// A resetConn is a connection that the receiver resets after the first write.
type resetConn struct {
	silentConn
	first chan struct{} // closed by the first write
}

func (q *resetConn) Write(b []byte) (int, error) {
	if q.writes++; q.writes > 1 {
		return 0, syscall.ECONNRESET
	}
	close(q.first)
	return len(b), nil
}

// The responses that a receiver has sent before it ended the connection can be
// read after a write has failed.
func TestRELPReadsTheResponsesBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dial(t, "relp", "127.0.0.1:1", Config{})
		d.session = &session{settled: make([]bool, 4), wake: make(chan struct{}, 1), base: 1, next: 1}
		q := &resetConn{first: make(chan struct{})}
		l := silentLink(&q.silentConn, Config{})
		l.Conn, l.done = q, make(chan struct{})
		d.use(l)
		go func() { // the reader, which is slow
			defer close(l.done)
			<-q.first
			for number := 2; number < 6 && l.err() == nil; number++ {
				if err := d.session.take(frame{number: number, command: []byte("rsp"), data: []byte("200 OK")}); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			l.fail(errEnded)
		}()
		res, err := d.Deliver(t.Context(), batchOf(0, 6))
		if res.Accepted != 4 || !errors.Is(err, errEnded) {
			t.Errorf("got %+v and error %v, want 4 accepted and errEnded", res, err)
		}
		if st := d.Stats(); st.Doubtful > 2 {
			t.Errorf("got %d doubtful, want 2 at most", st.Doubtful)
		}
	})
}

// While Ping connects, Deliver waits as long as its context allows.
func TestDeliverEndsWhilePingConnects(t *testing.T) {
	for name, end := range map[string]func(*Destination, context.CancelFunc){
		"ctx":   func(_ *Destination, cancel context.CancelFunc) { cancel() },
		"Close": func(d *Destination, _ context.CancelFunc) { d.end() },
	} {
		synctest.Test(t, func(t *testing.T) {
			d, err := New("unix", filepath.Join(t.TempDir(), "none"), Config{})
			must.Succeed(t, err)
			d.turn <- struct{}{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			delivered := make(chan error)
			go func() {
				_, err := d.Deliver(ctx, batchOf(0, 1))
				delivered <- err
			}()
			synctest.Wait()
			end(d, cancel)
			if err := <-delivered; !errors.Is(err, context.Canceled) && !errors.Is(err, delivery.ErrClosed) {
				t.Errorf("after %s: got error %v", name, err)
			}
			d.release()
			_ = d.Close()
		})
	}
}

// The goroutine that reads shares data with the next connection: a new one, and
// Close, wait until it has ended.
func TestTheReaderEndsBeforeTheNextConnection(t *testing.T) {
	for name, use := range map[string]func(*Destination) error{
		"Ping":  func(d *Destination) error { return d.Ping(context.Background()) },
		"Close": (*Destination).Close,
	} {
		synctest.Test(t, func(t *testing.T) {
			d, err := New("unix", filepath.Join(t.TempDir(), "none"), Config{})
			must.Succeed(t, err)
			l := silentLink(&silentConn{}, Config{})
			l.done = make(chan struct{})
			l.fail(errEnded)
			d.use(l)
			used := make(chan struct{})
			go func() { _ = use(d); close(used) }()
			synctest.Wait()
			select {
			case <-used:
				t.Errorf("%s has not waited for the reader", name)
			default:
			}
			close(l.done)
			<-used
			_ = d.Close()
		})
	}
}
