// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
)

func TestRELPArrivesInOrder(t *testing.T) {
	for _, window := range []int{1, 2, 7, 100, 5000} {
		r := newRELP(t, &relpServer{})
		d := dial(t, "relp", r.addr, Config{Window: window})
		for _, cut := range [][2]int{{0, 1}, {1, 3}, {3, 3}, {3, 1000}} {
			deliver(t, d, batchOf(cut[0], cut[1]))
		}
		if got, want := r.lines(1000), linesOf(0, 1000); !slices.Equal(got, want) {
			t.Errorf("window %d: got %d lines, want %d in order", window, len(got), len(want))
		}
		if st := d.Stats(); st.Accepted != 1000 || st.Connects != 1 || st.Doubtful != 0 {
			t.Errorf("window %d: got %+v", window, st)
		}
	}
}

func TestRELPClosesItsSession(t *testing.T) {
	r := newRELP(t, &relpServer{})
	d := dial(t, "relp", r.addr, Config{})
	deliver(t, d, batchOf(0, 1))
	must.Succeed(t, d.Close())
	if r.mu.Lock(); r.closes != 1 {
		t.Errorf("got %d closes before Close returned, want 1", r.closes)
	}
	r.mu.Unlock()
	if _, err := d.Deliver(context.Background(), batchOf(1, 2)); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("got error %v, want delivery.ErrClosed", err)
	}
	if st := d.Stats(); st.Failures != 0 || st.Connected {
		t.Errorf("got %+v, want no failure and no connection", st)
	}
}

// Responses may arrive out of order, and several at a time.
func TestRELPResponsesOutOfOrder(t *testing.T) {
	held := ""
	n := 0
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		held = accept(c) + held
		if n++; n%10 != 0 {
			return "", nil
		}
		rsp := held
		held = ""
		return rsp, nil
	}})
	d := dial(t, "relp", r.addr, Config{Window: 10})
	deliver(t, d, batchOf(0, 10))
	deliver(t, d, batchOf(10, 1000))
	if got, want := r.lines(1000), linesOf(0, 1000); !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d in order", len(got), len(want))
	}
}

// The receiver dies with some records acknowledged, some accepted without
// acknowledgement, and some not accepted. Exactly those without acknowledgement
// are sent again.
func TestRELPConnectionIsCutWithinTheWindow(t *testing.T) {
	const acked, taken, all = 37, 55, 300
	first := true
	n := 0
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if n++; !first {
			return accept(c), nil
		}
		if n == taken {
			first = false
			return "", errCut
		}
		if n > acked {
			return "", nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{Window: 64, Timeout: testTimeout}) // the reader has a twelfth to read all responses
	res, err := d.Deliver(context.Background(), batchOf(0, all))
	if err == nil || res.Accepted != acked {
		t.Fatalf("got %+v and error %v, want %d accepted and an error", res, err, acked)
	}
	if st := d.Stats(); st.Doubtful == 0 || st.Doubtful > 64 {
		t.Errorf("got %+v, want between 1 and 64 doubtful", st)
	}
	deliver(t, d, batchOf(res.Accepted, all))
	want := append(linesOf(0, taken-1), linesOf(acked, all)...)
	if got := r.lines(len(want)); !slices.Equal(got, want) {
		t.Errorf("got %d lines %q…, want %d", len(got), got[taken-3:taken+3], len(want))
	}
}

func TestRELPServerCloses(t *testing.T) {
	n := 0
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if n++; n == 20 {
			return accept(c) + "0 serverclose 0\n", nil
		}
		if n > 20 && c.number == n+1 { // the same connection
			return "", nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{})
	res, err := d.Deliver(context.Background(), batchOf(0, 100))
	if !errors.Is(err, errEnded) || res.Accepted != 20 {
		t.Fatalf("got %+v and error %v, want 20 accepted and errEnded", res, err)
	}
	insist(t, d, batchOf(res.Accepted, 100))
}

func TestRELPWithoutResponse(t *testing.T) {
	for late := time.Now().Add(testTimeout); !withoutResponse(t); {
		if time.Now().After(late) {
			t.Fatal("not all that has a response is accepted")
		}
	}
}

// withoutResponse reports whether the receiver sent its responses before the
// timeout.
func withoutResponse(t *testing.T) bool {
	t.Helper()
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if c.number > 6 {
			return "", nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{Timeout: 200 * time.Millisecond})
	res, err := d.Deliver(context.Background(), batchOf(0, 10))
	if !errors.Is(err, errSilent) || res.Accepted > 5 {
		t.Fatalf("got %+v and error %v, want 5 accepted and errSilent", res, err)
	}
	if res.Accepted < 5 {
		return false
	}
	d.config.Timeout = testTimeout
	deliver(t, d, batchOf(5, 10)) // through a new connection
	return true
}

// An invalid response ends the connection, and nothing counts as accepted.
func TestRELPNonsense(t *testing.T) {
	for name, rsp := range map[string]string{
		"a response to nothing":     respond(17, "200 OK"),
		"a response to open, again": respond(1, "200 OK"),
		"the number of the next":    respond(5, "200 OK"),
		"the same response twice":   respond(2, "200 OK") + respond(2, "200 OK"),
		"a later response twice":    respond(4, "200 OK") + respond(4, "200 OK"),
		"a number that is too long": "1234567890 rsp 6 200 OK\n",
		"no number":                 "rsp 6 200 OK\n",
		"another command":           "2 syslog 1 x\n",
		"a huge response":           "2 rsp 999999999 200 OK\n",
		"no line feed":              "2 rsp 6 200 OKx",
		"HTTP":                      "HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
			if c.number > 2 {
				return "", nil
			}
			return rsp, nil
		}})
		d := dial(t, "relp", r.addr, Config{})
		res, err := d.Deliver(context.Background(), batchOf(0, 3))
		if want := strings.HasPrefix(rsp, "2 rsp 6 200 OK\n"); !errors.Is(err, errFrame) || (res.Accepted == 1) != want {
			t.Errorf("%s: got %+v and error %v, want errFrame", name, res, err)
		}
	}
}

func TestRELPOpenFails(t *testing.T) {
	for name, c := range map[string]struct{ rsp, want string }{
		"refused":            {respond(1, "500 go away\nplease"), `refused: "500 go away"`},
		"without syslog":     {respond(1, "200 OK\nrelp_version=0\ncommands=eventlog,sys"), "does not offer the command syslog"},
		"a later version":    {respond(1, "200 OK\nrelp_version=7\ncommands=syslog"), `RELP version "7"`},
		"closed":             {"0 serverclose 0\n", "closed the connection"},
		"the wrong number":   {respond(2, usualOffers), "instead of a response to open"},
		"nothing RELP knows": {"SSH-2.0-OpenSSH_9.2\r\n", "not RELP"},
		"no code":            {respond(1, "yes"), `refused: "yes"`},
		"another command":    {"1 serverclose 0\n", "1 serverclose instead of a response to open"},
		"a hint and no":      {"0 hint 2 hi\n" + respond(1, "500 no"), `refused: "500 no"`},
		"an empty response":  {"1 rsp 0\n", `refused: ""`},
	} {
		r := newRELP(t, &relpServer{open: c.rsp})
		d := dial(t, "relp", r.addr, Config{})
		res, err := d.Deliver(context.Background(), batchOf(0, 3))
		if err == nil || !strings.Contains(err.Error(), c.want) || res.Accepted != 0 {
			t.Errorf("%s: got %+v and error %v, want %q", name, res, err, c.want)
		}
		if st := d.Stats(); st.Refused != 1 || st.Connects != 0 || st.Connected {
			t.Errorf("%s: got %+v, want one refused", name, st)
		}
	}
}

// A refused record is sent three times in total, and those around it once,
// except for the witness, which shows whether the receiver works.
func TestRELPRefusesRecords(t *testing.T) {
	bad := map[string]int{lineOf(3): 1, lineOf(7): 2, lineOf(9): 99}
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		m, err := parseMessage(c.data)
		if err != nil {
			return "", err
		}
		if bad[m.text] > 0 {
			bad[m.text]--
			return respond(c.number, "500 out of\nmemory"), nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{Window: 4})
	res, err := d.Deliver(context.Background(), batchOf(0, 12))
	if err != nil || res.Accepted != 12 || len(res.Rejected) != 1 || res.Rejected[0].Index != 9 {
		t.Fatalf("got %+v and error %v, want 12 settled, 9 rejected", res, err)
	}
	if why := res.Rejected[0].Reason; !errors.Is(why, errRefused) || !strings.Contains(why.Error(), `"500 out of"`) {
		t.Errorf("got reason %v, want errRefused", why)
	}
	sent := map[string]int{}
	for _, line := range r.lines(12 + 1 + 2 + 2 + 2) {
		sent[line]++
	}
	for i := range 12 {
		want := map[int]int{0: 3, 3: 2, 7: 3, 9: 3}[i]
		if got := sent[lineOf(i)]; got != max(want, 1) {
			t.Errorf("record %d: sent %d times, want %d", i, got, max(want, 1))
		}
	}
	if st := d.Stats(); st.Accepted != 11 || st.Rejected != 1 {
		t.Errorf("got %+v, want 11 accepted and 1 rejected", st)
	}
}

// If a record is refused and the connection ends, in the first attempt or when
// the record is sent again, nothing after it is settled.
func TestRELPRefusesAndCuts(t *testing.T) {
	for _, last := range []int{8, 12} {
		r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
			switch c.number {
			case 4:
				return respond(4, "500 no"), nil
			case last:
				return "", errCut
			}
			return accept(c), nil
		}})
		d := dial(t, "relp", r.addr, Config{})
		res, err := d.Deliver(context.Background(), batchOf(0, 10))
		if err == nil || res.Accepted != 2 || len(res.Rejected) != 0 {
			t.Errorf("cut at %d: got %+v and error %v, want 2 accepted and an error", last, res, err)
		}
	}
}

func TestRELPNumbersBeginAgain(t *testing.T) {
	s := &session{settled: make([]bool, 8), wake: make(chan struct{}, 1), base: maxNumber - 3, next: maxNumber - 3}
	for range 8 {
		s.start()
	}
	for i, number := range []int{maxNumber, 1, maxNumber - 2, maxNumber - 1, 4, 3, 2, 5} {
		if err := s.take(frame{number: number, command: []byte("rsp"), data: []byte("200 OK")}); err != nil {
			t.Fatalf("response %d, to command %d: %v", i, number, err)
		}
	}
	if s.base != maxNumber+5 || s.next != s.base {
		t.Errorf("got %d answered of %d, want all of %d", s.base, s.next, uint64(maxNumber)+5)
	}
	if got := numberOf(maxNumber); got != 1 {
		t.Errorf("got number %d behind 999999999, want 1", got)
	}
}

func TestRELPContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) {
		if c.number > 6 {
			cancel()
			return "", nil
		}
		return accept(c), nil
	}})
	d := dial(t, "relp", r.addr, Config{})
	res, err := d.Deliver(ctx, batchOf(0, 10))
	if !errors.Is(err, context.Canceled) || res.Accepted > 5 {
		t.Errorf("got %+v and error %v, want 5 accepted at most and Canceled", res, err)
	}
}

func TestCloseInterruptsDeliver(t *testing.T) {
	r := newRELP(t, &relpServer{syslog: func(c command) (string, error) { return "", nil }})
	d := dial(t, "relp", r.addr, Config{Timeout: testTimeout})
	done := make(chan error)
	go func() {
		_, err := d.Deliver(context.Background(), []nib.Record{record(lineOf(1), 1)})
		done <- err
	}()
	r.lines(1)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("got error %v, want delivery.ErrClosed", err)
	}
}
