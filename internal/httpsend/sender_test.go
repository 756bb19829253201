// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// lines is a format whose request has a line for each record, and whose
// response has a status for each one.
type lines struct{}

func (lines) Check(r *nib.Record) error {
	if len(r.Line) == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (lines) Body(batch []nib.Record, want []int, limit int) (body []byte, n int) {
	for _, i := range want {
		if n > 0 && len(body)+len(batch[i].Line) > limit {
			break
		}
		body = append(body, batch[i].Line...)
		n++
	}
	return body, n
}

func (lines) Read(resp Response, outcomes []RecordStatus) error {
	items := strings.Fields(string(resp.Body))
	if len(items) != len(outcomes) {
		return errors.New("the response has another number of items")
	}
	for i, item := range items {
		code, _, _ := strings.Cut(item, "/")
		status, err := strconv.Atoi(code)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			outcomes[i] = RecordStatus{errors.New("item " + item), status}
		}
	}
	return nil
}

func (lines) Error(resp Response) error { return resp.Err() }

// A lineServer is a server of lines on pipes. refuse returns the status for a
// record, 200 to accept it. A request gets the first other status of its
// records, or each record its own.
type lineServer struct {
	perItem  bool
	refuse   func(line string) int
	requests int
	got      []string
}

func (s *lineServer) dial(context.Context, string, string) (net.Conn, error) {
	server, client := net.Pipe()
	go func() {
		defer server.Close()
		for in := bufio.NewReader(server); ; {
			q, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return
			}
			status, text := s.answer(strings.Fields(string(body)))
			if status < 200 { // the final response never follows
				fmt.Fprintf(server, "HTTP/1.1 %d x\r\n\r\n", status)
				return
			}
			if status == http.StatusNoContent || status == http.StatusNotModified {
				text = ""
			}
			fmt.Fprintf(server, "HTTP/1.1 %d x\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", status, len(text), text)
		}
	}()
	return client, nil
}

func (s *lineServer) answer(records []string) (status int, text string) {
	s.requests++
	var items, accepted []string
	status = http.StatusOK
	for _, r := range records {
		switch got := s.refuse(r); {
		case got == http.StatusOK:
			accepted = append(accepted, r)
			items = append(items, "200")
		case s.perItem:
			items = append(items, fmt.Sprintf("%d/%s", got, r))
		default:
			status = got
		}
	}
	if status != http.StatusOK {
		return status, "no"
	}
	s.got = append(s.got, accepted...)
	return status, strings.Join(items, " ")
}

// forgetRepeats removes what has arrived before from got: the server gets an
// accepted record again to compare it with a refused one.
func (s *lineServer) forgetRepeats(t *testing.T) {
	seen, all := map[string]bool{}, len(s.got)
	s.got = slices.DeleteFunc(s.got, func(line string) bool {
		again := seen[line]
		seen[line] = true
		return again
	})
	if n := all - len(s.got); n > 3 {
		t.Errorf("%d records have arrived once more", n)
	}
}

// sender returns a Sender to the server.
func (s *lineServer) sender(t *testing.T, onError func(error)) *Sender {
	c, err := New(Config{URL: "http://server/", Dial: s.dial, OnError: onError})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return NewSender(c, lines{}, 1<<20)
}

func recordsOf(n int) []nib.Record {
	batch := make([]nib.Record, n)
	for i := range batch {
		batch[i] = nib.Record{Line: fmt.Appendf(nil, "r%d\n", i), Seq: uint64(i + 1)}
	}
	return batch
}

// deliverFor calls Deliver as a spool does, with a pause after each error, and
// returns the rejections by line.
func deliverFor(s *Sender, limit time.Duration, batch []nib.Record) (rejected map[string]string,
	left int) {
	rejected = map[string]string{}
	for end := time.Now().Add(limit); len(batch) > 0 && time.Now().Before(end); {
		res, err := s.Deliver(context.Background(), batch)
		for _, r := range res.Rejected {
			rejected[string(bytes.TrimSpace(batch[r.Index].Line))] = r.Reason.Error()
		}
		batch = batch[res.Accepted:]
		if err != nil {
			time.Sleep(3 * time.Second) // fake time
		}
	}
	return rejected, len(batch)
}

// statuses returns the statuses to test: those that are treated in different
// ways, and except in short mode one in twenty of the others, or all of them if
// NIB_SEED is "random".
func statuses(t *testing.T) (list []int) {
	first := int(seed.Of(t) % 20)
	special := []int{100, 101, 204, 302, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503,
		504}
	for status := 100; status < 600; status++ {
		if seed.All() || slices.Contains(special, status) ||
			!testing.Short() && status%20 == first {
			list = append(list, status)
		}
	}
	return list
}

// A server refuses one record of a batch, with any status, at any position: it
// is rejected with the reason, and the others arrive once.
func TestOneRefusedRecordStopsNothing(t *testing.T) {
	cases, most, run := 0, 0, seed.Sample(t, 3, 3)
	for _, status := range statuses(t) {
		for _, perItem := range []bool{false, true} {
			if status == http.StatusOK {
				continue
			}
			for n := 2; n <= 5; n += 3 {
				for bad := range n {
					if !run() {
						continue
					}
					name := fmt.Sprintf("status %d, per item %v, %d of %d", status, perItem, bad, n)
					most = max(most, checkOneRefused(t, name, status, perItem, bad, n))
					cases++
				}
			}
		}
	}
	t.Logf("%d cases, at most %d requests", cases, most)
}

func checkOneRefused(t *testing.T, name string, status int, perItem bool, bad,
	n int) (requests int) {
	synctest.Test(t, func(t *testing.T) {
		refused := fmt.Sprint("r", bad)
		s := &lineServer{perItem: perItem, refuse: func(line string) int {
			if line == refused {
				return status
			}
			return http.StatusOK
		}}
		begin := time.Now()
		rejected, left := deliverFor(s.sender(t, nil), 20*time.Minute, recordsOf(n))
		took := time.Since(begin)
		requests = s.requests
		s.forgetRepeats(t)
		slices.Sort(s.got)
		var want []string
		for i := range n {
			if i != bad {
				want = append(want, fmt.Sprint("r", i))
			}
		}
		if left > 0 || len(rejected) != 1 || rejected[refused] == "" || !slices.Equal(s.got, want) {
			t.Errorf("%s: %d left, rejected %q, got %q", name, left, rejected, s.got)
		}
		if reason := rejected[refused]; status >= 200 && status/100 != 2 &&
			!strings.Contains(reason, strconv.Itoa(status)) {
			t.Errorf("%s: the reason is %q", name, reason)
		}
		status := status
		if status < 200 && status != http.StatusSwitchingProtocols {
			status = 0 // the connection ends without a response
		}
		if ofRecord(status) && (took > time.Second || requests > 4*n) ||
			took > patience(status)+2*time.Minute || requests > 800 {
			t.Errorf("%s: %d requests in %v", name, requests, took)
		}
	})
	return requests
}

// A server refuses every record, with any status, before it has accepted any or
// afterwards: the records wait, and the refusal is reported.
func TestAllRefusedRecordsWait(t *testing.T) {
	run := seed.Sample(t, 3, 3)
	for _, status := range statuses(t) {
		for _, accepted := range []bool{false, true} {
			for _, n := range []int{1, 20} {
				if status == http.StatusOK || n == 1 && accepted || !run() {
					continue
				}
				name := fmt.Sprintf("status %d, accepted before %v, %d records", status, accepted,
					n)
				checkAllRefused(t, name, status, accepted, n)
			}
		}
	}
}

func checkAllRefused(t *testing.T, name string, status int, accepted bool, n int) {
	synctest.Test(t, func(t *testing.T) {
		works := accepted
		s := &lineServer{refuse: func(string) int {
			if works {
				return http.StatusOK
			}
			return status
		}}
		reported := 0
		d := s.sender(t, func(error) { reported++ })
		deliverFor(d, time.Minute, recordsOf(n))
		works = false
		s.requests, s.got = 0, nil
		rejected, left := deliverFor(d, 15*time.Minute, recordsOf(n))
		if left != n || len(rejected) > 0 || reported == 0 {
			t.Errorf("%s: %d left, rejected %q, %d errors reported", name, left, rejected, reported)
		}
		if s.requests > 400 {
			t.Errorf("%s: %d requests in 15 minutes", name, s.requests)
		}
		works = true
		if rejected, left := deliverFor(d, time.Minute, recordsOf(n)); left > 0 ||
			len(rejected) > 0 || len(s.got) != n {
			t.Errorf("%s: when the server works again: %d left, rejected %q, %d arrived", name,
				left, rejected, len(s.got))
		}
	})
}

// Many records are refused: each is found, in a number of requests that grows
// with the logarithm of the size of the batch.
func TestRefusedRecordsAmongMany(t *testing.T) {
	const n = 4096
	for name, isBad := range map[string]func(i int) bool{
		"the first one":     func(i int) bool { return i == 0 },
		"the last one":      func(i int) bool { return i == n-1 },
		"ten":               func(i int) bool { return i%410 == 7 },
		"the first hundred": func(i int) bool { return i < 100 },
		"most at the end":   func(i int) bool { return i >= n-100 && i%10 != 5 },
	} {
		synctest.Test(t, func(t *testing.T) {
			bad := 0
			for i := range n {
				if isBad(i) {
					bad++
				}
			}
			s := &lineServer{refuse: func(line string) int {
				if i, _ := strconv.Atoi(line[1:]); isBad(i) {
					return http.StatusBadRequest
				}
				return http.StatusOK
			}}
			rejected, left := deliverFor(s.sender(t, nil), time.Minute, recordsOf(n))
			s.forgetRepeats(t)
			if left > 0 || len(rejected) != bad || len(s.got) != n-bad {
				t.Errorf("%s: %d left, %d rejected, %d arrived", name, left, len(rejected),
					len(s.got))
			}
			if most := 30 + bad*30; s.requests > most {
				t.Errorf("%s: %d requests, want at most %d", name, s.requests, most)
			}
		})
	}
}

// A record without others to compare it with is rejected if the request before
// it was accepted, but only one such record. Further ones are rejected if the
// server accepts an earlier record again.
func TestLoneRefusedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works := true
		s := &lineServer{refuse: func(line string) int {
			if line == "r0" && works {
				return http.StatusOK
			}
			return http.StatusRequestEntityTooLarge
		}}
		d, all := s.sender(t, nil), recordsOf(4)
		for i, want := range []struct{ left, rejected int }{{0, 0}, {0, 1}, {1, 0}, {1, 0}} {
			works = i < 2
			if rejected, left := deliverFor(d, time.Minute, all[i:i+1]); left != want.left ||
				len(rejected) != want.rejected {
				t.Errorf("record %d: %d left, rejected %q", i, left, rejected)
			}
		}
		works = true
		if rejected, left := deliverFor(d, time.Minute, all[2:4]); left > 0 || len(rejected) != 2 {
			t.Errorf("when the server works again: %d left, rejected %q", left, rejected)
		}
	})
}

// A record that waits is not mixed up with another one of a later batch.
func TestMemoryOfAnotherBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &lineServer{perItem: true, refuse: func(line string) int {
			if line == "r2" {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}}
		d, all := s.sender(t, nil), recordsOf(10)
		if rejected, left := deliverFor(d, time.Second, all[:8]); left != 6 || len(rejected) > 0 ||
			len(s.got) != 7 {
			t.Fatalf("%d left, rejected %q, got %q", left, rejected, s.got)
		}
		s.got = nil
		// two were dropped, and r7 has another place
		other := slices.Concat(all[4:7], all[8:10], all[7:8])
		if _, left := deliverFor(d, time.Second, other); left > 0 ||
			fmt.Sprint(s.got) != "[r8 r9]" {
			t.Errorf("%d left, got %q", left, s.got)
		}
		if n := len(d.waiting); n > 0 {
			t.Errorf("%d records are remembered at the end", n)
		}
	})
}

// Records of another spool that are delivered between two calls do not make the
// Sender forget which records the server has accepted.
func TestMemoryOfSeveralSpools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := true
		s := &lineServer{perItem: true, refuse: func(line string) int {
			if refused && line == "r2" {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}}
		d, own, other := s.sender(t, nil), recordsOf(10), recordsOf(10)
		for i := range other {
			other[i].Spool = 7
		}
		deliverFor(d, time.Second, own)
		deliverFor(d, time.Second, other)
		refused = false
		deliverFor(d, time.Minute, own[2:])
		deliverFor(d, time.Minute, other[2:])
		if len(s.got) != 20 {
			t.Errorf("got %q, want each of 20 records once", s.got)
		}
		if n := len(d.waiting); n > 0 {
			t.Errorf("%d records are remembered at the end", n)
		}
	})
}

// A record that is refused is found although records of another spool are
// accepted all the time.
func TestSearchesOfSeveralSpools(t *testing.T) {
	for _, status := range []int{400, 403, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			s := &lineServer{refuse: func(line string) int {
				if line == "r23" {
					return status
				}
				return http.StatusOK
			}}
			d, batch, own := s.sender(t, nil), recordsOf(30), recordsOf(1)
			own[0].Spool = 7
			rejected, left := map[string]string{}, 0
			for range 1000 {
				if len(batch) == 0 {
					break
				}
				deliverFor(d, time.Second, own)
				var now map[string]string
				now, left = deliverFor(d, time.Second, batch)
				batch = batch[len(batch)-left:]
				maps.Copy(rejected, now)
			}
			if left > 0 || len(rejected) != 1 || rejected["r23"] == "" {
				t.Errorf("status %d: %d left, rejected %q", status, left, rejected)
			}
		})
	}
}

// A server that refuses everything for a long time, accepts a few records and
// refuses everything again has no bad record.
func TestOutagesAreNoReasonToReject(t *testing.T) {
	for _, status := range []int{401, 429, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			works := 0
			s := &lineServer{refuse: func(string) int {
				if works--; works >= 0 {
					return http.StatusOK
				}
				return status
			}}
			d, batch := s.sender(t, nil), recordsOf(50)
			for range 4 {
				rejected, left := deliverFor(d, 30*time.Minute, batch)
				if len(rejected) > 0 {
					t.Fatalf("status %d: rejected %q", status, rejected)
				}
				batch, works = batch[len(batch)-left:], 2
			}
			works = 1000
			rejected, left := deliverFor(d, 30*time.Minute, batch)
			s.forgetRepeats(t)
			if len(rejected) > 0 || left > 0 || len(s.got) != 50 {
				t.Errorf("status %d: rejected %q, %d left, %d arrived", status, rejected, left,
					len(s.got))
			}
		})
	}
}

// A request with a record that must wait is one failure, also if a request
// after it succeeds.
func TestFailureIsCountedAndReportedOnce(t *testing.T) {
	for _, last := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &lineServer{perItem: true, refuse: func(line string) int {
				if (line == "r0") != last {
					return http.StatusTooManyRequests
				}
				return http.StatusOK
			}}
			reported := 0
			d := s.sender(t, func(error) { reported++ })
			d.limit = 1 // a request for each record
			_, err := d.Deliver(context.Background(), recordsOf(2))
			st := d.client.Stats()
			if err == nil || st.Failures != 1 || reported != 1 || s.requests != 2 {
				t.Errorf("last %v: got %v, %+v, %d reports", last, err, st, reported)
			}
		})
	}
}
