// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

// tooLong makes the lines of some records longer than MaxSize.
func tooLong(batch []nib.Record, indexes ...int) []nib.Record {
	for _, i := range indexes {
		batch[i].Line = []byte(strings.Repeat("x", 9000))
	}
	return batch
}

func indexesOf(rejected []delivery.Rejection) (list []int) {
	for _, r := range rejected {
		list = append(list, r.Index)
	}
	return list
}

// Records that the Destination rejects and those that the receiver refuses are
// reported in order.
func TestRejectionsAreInOrder(t *testing.T) {
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if strings.HasSuffix(c.data, lineOf(2)) {
			return respond(c.number, "500 no"), nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{})
	res, err := d.Deliver(t.Context(), tooLong(batchOf(0, 6), 1, 4))
	if got := indexesOf(res.Rejected); err != nil || res.Accepted != 6 || !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("got %d accepted, %v rejected and error %v, want 1, 2 and 4 rejected", res.Accepted, got, err)
	}
}

// A receiver refuses one record of a batch, at any position, or all of them:
// then its queue may be full, and they wait. A single record is rejected if an
// earlier one is accepted again.
func TestOneRefusedOrAll(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for bad := range n + 1 {
			works := true
			r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
				if !works && (bad == n || strings.HasSuffix(c.data, lineOf(bad))) {
					return respond(c.number, "500 no"), nil
				}
				return accept(c), nil
			}})
			d := dial(t, "relp", r.addr, Config{})
			for _, accepted := range []bool{false, true} {
				works = accepted
				if accepted {
					deliver(t, d, batchOf(n, 2*n))
				}
				works = false
				res, err := d.Deliver(t.Context(), batchOf(0, n))
				waits := bad == n || n == 1 && !accepted
				if waits && (res.Accepted > 0 || len(res.Rejected) > 0 ||
					!errors.Is(err, errRefused) || !strings.Contains(err.Error(), "they wait")) {
					t.Errorf("all of %d, accepted before %v: got %+v and %v, want that they wait",
						n, accepted, res, err)
				}
				if got := indexesOf(res.Rejected); !waits &&
					(err != nil || res.Accepted != n || !slices.Equal(got, []int{bad})) {
					t.Errorf("record %d of %d, accepted before %v: got %+v and %v", bad, n,
						accepted, res, err)
				}
			}
		}
	}
}

// A receiver that ends the connection because of a record does not stop the
// others: the record is rejected, also if a record of another spool is accepted
// after each attempt. If it ends every connection, all of them wait.
func TestConnectionEndsBecauseOfARecord(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for bad := range n + 1 {
			r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
				if bad == n || strings.HasSuffix(c.data, lineOf(bad)) {
					return "", errCut
				}
				return accept(c), nil
			}})
			d := dial(t, "relp", r.addr, Config{})
			var rejected []int
			done := 0
			for calls := 0; done < n && calls < 5*maxCuts; calls++ {
				batch := batchOf(done, n+1) // there is another record after it
				if bad == n {
					batch = batchOf(0, n)
				}
				res, _ := d.Deliver(t.Context(), batch)
				for _, x := range res.Rejected {
					rejected = append(rejected, done+x.Index)
					if !errors.Is(x.Reason, errRefused) || !errors.Is(x.Reason, errEnded) {
						t.Errorf("the reason is %v", x.Reason)
					}
				}
				done += res.Accepted
				if other := batchOf(n+1, n+2); n == 3 {
					other[0].Spool = 9
					_, _ = d.Deliver(t.Context(), other)
				}
			}
			if bad == n && (done > 0 || len(rejected) > 0) || bad < n &&
				(done < n || !slices.Equal(rejected, []int{bad})) {
				t.Errorf("record %d of %d: %d are settled, rejected %v", bad, n, done, rejected)
			}
		}
	}
}

// A connection ends after record 2: the overlong record after it is rejected
// with the next batch.
func TestNothingIsRejectedBehindWhatIsSettled(t *testing.T) {
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if strings.HasSuffix(c.data, lineOf(3)) {
			return "", errCut
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{})
	res, err := d.Deliver(t.Context(), tooLong(batchOf(0, 6), 1, 4))
	if got := indexesOf(res.Rejected); err == nil || res.Accepted != 3 || !slices.Equal(got, []int{1}) {
		t.Errorf("RELP: got %d accepted, %v rejected and error %v, want 3 accepted, 1 rejected", res.Accepted, got, err)
	}

	full := &net.OpError{Op: "write", Err: errors.New("broken pipe")}
	d = dial(t, "tcp", "127.0.0.1:1", Config{})
	d.use(scripted(&script{steps: []step{{100, full}}}, Config{}))
	res, err = d.Deliver(t.Context(), tooLong(batchOf(0, 6), 1, 4))
	if err == nil || res.Accepted != 0 || len(res.Rejected) != 0 {
		t.Errorf("TCP: got %+v and error %v, want nothing settled", res, err)
	}
}

// The receiver responds in reverse order and ends the connection: records after
// the first refused one are not settled.
func TestRefusedOutOfOrderThenCut(t *testing.T) {
	held := ""
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		switch rsp := accept(c); {
		case strings.HasSuffix(c.data, lineOf(9)):
			return held, nil
		case strings.HasSuffix(c.data, lineOf(10)):
			return "", errCut
		case strings.HasSuffix(c.data, lineOf(3)), strings.HasSuffix(c.data, lineOf(7)):
			held = respond(c.number, "500 no") + held
		default:
			held = rsp + held
		}
		return "", nil
	}})
	d := dial(t, "relp", r.addr, Config{})
	res, err := d.Deliver(t.Context(), batchOf(0, 11))
	if err == nil || res.Accepted != 3 || len(res.Rejected) != 0 {
		t.Errorf("got %+v and error %v, want 3 accepted and an error", res, err)
	}
}

// Rejected records take no room in the window.
func TestRejectedRecordsLeaveTheWindowAlone(t *testing.T) {
	r := newRELP(t, &relpServer{})
	d := dial(t, "relp", r.addr, Config{Window: 4})
	res, err := d.Deliver(t.Context(), tooLong(batchOf(0, 10), 0, 1, 2, 3, 4, 5))
	if err != nil || res.Accepted != 10 || len(res.Rejected) != 6 {
		t.Errorf("got %+v and error %v, want 6 of 10 rejected", res, err)
	}
}

// While the window is full, nothing is written. The receiver holds back every
// other response: it never has more than one, and Deliver waits until half of
// the window is free.
func TestFullWindowIsWaitedFor(t *testing.T) {
	held, n := "", 0
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		held += accept(c)
		if n++; n%2 != 0 {
			return "", nil
		}
		rsp := held
		held = ""
		return rsp, nil
	}})
	d := dial(t, "relp", r.addr, Config{Window: 4})
	must.Succeed(t, d.Ping(t.Context()))
	w := &emptyWrites{Conn: d.link.Load().stream}
	d.link.Load().stream = w
	deliver(t, d, batchOf(0, 400))
	if w.n != 0 {
		t.Errorf("got %d writes of nothing, want none", w.n)
	}
}

// emptyWrites counts writes of nothing.
type emptyWrites struct {
	net.Conn
	n int
}

func (w *emptyWrites) Write(b []byte) (int, error) {
	if len(b) == 0 {
		w.n++
	}
	return w.Conn.Write(b)
}

// A failed write of a full window ends the batch with the error of the write.
func TestFailedWriteOfAFullWindow(t *testing.T) {
	failed := errors.New("broken pipe")
	d := dial(t, "relp", "127.0.0.1:1", Config{Window: 2})
	d.session = &session{settled: make([]bool, 2), wake: make(chan struct{}, 1), base: 1, next: 1}
	d.use(scripted(&script{steps: []step{{20, failed}}}, Config{}))
	if res, err := d.Deliver(t.Context(), batchOf(0, 3)); !errors.Is(err, failed) || res.Accepted != 0 {
		t.Errorf("got %+v and error %v, want %v", res, err, failed)
	}
}

// The writer of a window waits for one response, the last that it needs.
func TestWriterIsWokenOnce(t *testing.T) {
	s := &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
	for range 3 {
		s.start()
	}
	s.expect(4)
	for number := 2; number <= 4; number++ {
		must.Succeed(t, s.take(frame{number: number, command: []byte("rsp"),
			data: []byte("200 OK")}))
		if woken := len(s.wake) == 1; woken != (number == 4) {
			t.Errorf("response %d: woken is %v", number, woken)
		}
	}
}

// An onClose is a connection whose end the reading goroutine detects later.
type onClose struct {
	script
	then func()
}

func (c *onClose) Close() error { go c.then(); return nil }

// A response that was read before the end counts.
func TestFailureWaitsForTheReader(t *testing.T) {
	d := dial(t, "relp", "127.0.0.1:1", Config{})
	d.session = &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
	c := &onClose{script: script{steps: []step{{20, errors.New("broken pipe")}}}}
	l := scripted(&c.script, Config{})
	l.Conn, l.done = c, make(chan struct{})
	c.then = func() {
		if err := d.session.take(frame{number: 2, command: []byte("rsp"), data: []byte("200 OK")}); err != nil {
			t.Error(err)
		}
		close(l.done)
	}
	d.use(l)
	if res, err := d.Deliver(t.Context(), batchOf(0, 3)); err == nil || res.Accepted != 1 {
		t.Errorf("got %+v and error %v, want 1 accepted", res, err)
	}
}

// The system delays its acknowledgement, and the receiver delays its response
// until then: a wait for a response must make the system acknowledge at once.
func TestWaitingAcknowledgesAtOnce(t *testing.T) {
	d := dial(t, "relp", "127.0.0.1:1", Config{})
	d.session = &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
	l := scripted(&script{}, Config{Timeout: testTimeout})
	l.quickAck = func() {
		if err := d.session.take(frame{number: 2, command: []byte("rsp"), data: []byte("200 OK")}); err != nil {
			t.Error(err)
		}
	}
	d.use(l)
	deliver(t, d, batchOf(0, 1))

	var asked []int // responses read at each call of quickAck
	read := 0
	s := &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: 1, next: 1}
	for range 3 {
		s.start()
	}
	portions := []string{respond(2, "200 OK") + "3 rs", "p 6 200 OK\n", respond(4, "200 OK")}
	s.frames = newFrames(readerFunc(func(b []byte) (int, error) {
		if read++; read > len(portions) {
			return 0, net.ErrClosed
		}
		return copy(b, portions[read-1]), nil
	}))
	l = scripted(&script{}, Config{})
	l.done, l.quickAck = make(chan struct{}), func() { asked = append(asked, read) }
	s.read(l)
	if want := []int{0, 2, 3}; !slices.Equal(asked, want) { // not while a part of a response is buffered
		t.Errorf("got asked behind %v reads, want %v", asked, want)
	}
	l = scripted(&script{}, Config{})
	l.done, read = make(chan struct{}), len(portions)
	s.read(l) // for a system without quickAck
}

// A blocked connection accepts 200 bytes, and then has no room until it is
// closed.
type blocked struct {
	script
	then   func() error // returns the error of Write
	closed chan struct{}
}

func (c *blocked) Write(b []byte) (int, error) {
	c.written = append(c.written, b[:200]...)
	return 200, c.then()
}

func (c *blocked) Close() error { close(c.closed); return nil }

// The context and Close end a Write that waits for room. Records that the
// socket had accepted by then are settled.
func TestBlockedWriteEnds(t *testing.T) {
	for _, want := range []error{context.Canceled, delivery.ErrClosed} {
		d := dial(t, "tcp", "127.0.0.1:1", Config{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &blocked{closed: make(chan struct{}), then: func() error {
			if want == delivery.ErrClosed {
				go func() { _ = d.Close() }()
				await.Until(t, "Close ends the connection", func() bool { return d.link.Load().err() != nil })
				return &net.OpError{Op: "write", Err: net.ErrClosed}
			}
			cancel()
			return &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
		}}
		l := scripted(&c.script, Config{})
		l.Conn, l.failures = c, &d.counters.failures
		d.use(l)
		res, err := d.Deliver(ctx, batchOf(0, 10))
		<-c.closed
		if sent := strings.Count(string(c.written), `hello"}`); !errors.Is(err, want) || res.Accepted != sent || sent == 0 {
			t.Errorf("%v: got %d of %d accepted and error %v", want, res.Accepted, sent, err)
		}
		if st := d.Stats(); st.Doubtful != 0 || (st.Failures == 0) != (want == delivery.ErrClosed) {
			t.Errorf("%v: got %+v, want nothing doubtful, and Close is no failure", want, st)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// Frames are written in pieces, and their buffer is kept for the next batch.
func TestFramesAreWrittenInPieces(t *testing.T) {
	batch, _ := tooMuch()
	batch = batch[:2000] // 4 MB
	for _, network := range []string{"tcp", "relp"} {
		r := newReceiver(t, "tcp", discardAll)
		if network == "relp" {
			r.handle = (&relpServer{}).handle
		}
		r.start()
		d := dial(t, network, r.addr, Config{Window: 5000})
		deliver(t, d, batch)
		if got := cap(d.buf); got < chunk || got > 4*chunk {
			t.Errorf("%s: got a buffer of %d bytes, want about %d", network, got, chunk)
		}
	}
}

// A huge line leaves no huge buffers behind.
func TestHugeBuffersAreNotKept(t *testing.T) {
	r := newReceiver(t, "tcp", discardAll).start()
	huge := []nib.Record{record(`{"a":"`+strings.Repeat("x\\n", 1<<20)+`"}`, 1)}
	for _, size := range []int{2 << 20, 8 << 20} { // too long, and not
		d := dial(t, "tcp", r.addr, Config{MaxSize: size})
		deliver(t, d, huge)
		if cap(d.buf) > keepSize || cap(d.short) > keepSize || d.scratch.Size() > keepSize {
			t.Errorf("MaxSize %d: got buffers of %d, %d and %d bytes", size, cap(d.buf), cap(d.short), d.scratch.Size())
		}
	}
}

// Shortened counts the truncated records; Bytes counts the bytes of the
// messages.
func TestCountsOfLinesThatWereCut(t *testing.T) {
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unix", r.addr, Config{})
	batch := batchOf(0, 3)
	batch[1].Line = []byte(`{"a":"` + strings.Repeat("x", 9000) + "\"}\n")
	deliver(t, d, batch)
	if st := d.Stats(); st.Shortened != 1 || st.Accepted != 3 {
		t.Errorf("got %+v, want 1 of 3 shortened", st)
	}
	r.lines(3)
	if got, want := d.Stats().Bytes, len(strings.Join(r.messages, "")); got != uint64(want) {
		t.Errorf("got %d bytes, want %d", got, want)
	}
}

// Bytes and Shortened count a record once, however often it is sent, and a
// refused one never.
func TestBytesDoNotCountRepeats(t *testing.T) {
	for _, network := range []string{"relp", "tcp"} {
		sent := 0
		server := &relpServer{syslog: func(c command) (string, error) {
			switch sent++; {
			case sent == 3:
				return "", errCut // after two records
			case strings.HasSuffix(c.data, lineOf(4)):
				return respond(c.number, "500 no"), nil
			}
			return accept(c), nil
		}}
		var d *Destination
		if network == "relp" {
			d = dial(t, "relp", newRELP(t, server).addr, Config{})
		} else {
			d = dial(t, "tcp", "127.0.0.1:1", Config{})
			d.use(scripted(&script{steps: []step{{100,
				&net.OpError{Op: "write", Err: errors.New("broken pipe")}}}}, Config{}))
		}
		batch := batchOf(0, 6)
		want := 0
		for i := range batch {
			if head, line, _, _ := d.message(&batch[i]); network != "relp" || i != 4 {
				want += len(head) + len(line)
			}
		}
		res, err := d.Deliver(t.Context(), batch)
		if err == nil {
			t.Fatalf("%s: got %+v, want an error", network, res)
		}
		if network == "tcp" {
			d.use(scripted(&script{}, Config{}))
		}
		for rest := batch[res.Accepted:]; len(rest) > 0; rest = rest[res.Accepted:] {
			if res, err = d.Deliver(t.Context(), rest); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.Stats(); got.Bytes != uint64(want) {
			t.Errorf("%s: got %+v, want %d bytes", network, got, want)
		}
	}
}

// A receiver refuses everything for some time, which begins and ends anywhere:
// within a batch, or between the attempts to send it. The outage is no reason
// to reject a record. The record that is always refused is rejected.
func TestNoOutageRejectsARecord(t *testing.T) {
	const n = 3
	commands, from, to, bad := 0, 0, 0, 0
	var arrived []string
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		commands++
		line := c.data[strings.IndexByte(c.data, '{'):]
		if down := from < commands && commands <= to; down || line == lineOf(bad) {
			return respond(c.number, "500 no"), nil
		}
		arrived = append(arrived, line)
		return accept(c), nil
	}})
	for size := 1; size <= n; size++ {
		for bad = range n + 1 {
			for from = range 2 * n {
				for to = from; to <= from+4*n; to++ {
					commands, arrived = 0, nil
					d := dial(t, "relp", r.addr, Config{})
					var rejected []int
					for done, calls := 0, 0; done < n && calls < 20*n; calls++ {
						// a record that is alone waits for another one
						until := min(max(done+size, calls/4), n)
						res, _ := d.Deliver(t.Context(), batchOf(done, until))
						for _, i := range indexesOf(res.Rejected) {
							rejected = append(rejected, done+i)
						}
						done += res.Accepted
					}
					want := linesOf(0, n)
					if bad < n {
						want = slices.Delete(want, bad, bad+1)
					}
					slices.Sort(arrived)
					arrived = slices.Compact(arrived)
					if !slices.Equal(arrived, want) || len(rejected) != n-len(want) {
						t.Errorf("batches of %d, commands %d to %d are refused, and record %d: "+
							"rejected %v, %d arrived", size, from, to, bad, rejected, len(arrived))
					}
					_ = d.Close()
				}
			}
		}
	}
}
