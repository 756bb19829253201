// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/must"
)

// A server that has accepted nothing and refuses each of many records may have
// no place for them. If it treats one of them otherwise, the refusal is about
// records.
func TestEachOfManyIsRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused int
		other   int // status of one more record, 0 for none
		all     bool
	}{
		{"one less than many", maxUnproven - 1, 0, false},
		{"many", maxUnproven, 0, true},
		{"one more", maxUnproven + 1, 0, true},
		{"all but one, which waits", maxUnproven, http.StatusTooManyRequests, false},
		{"all but one, which is accepted", maxUnproven, http.StatusOK, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &lineServer{perItem: true, refuse: func(line string) int {
				if i, _ := strconv.Atoi(line[1:]); i < c.refused {
					return http.StatusBadRequest
				}
				return c.other
			}}
			n := c.refused
			if c.other != 0 {
				n++
			}
			d := s.sender(t, nil)
			res, err := d.Deliver(context.Background(), recordsOf(n))
			want := c.refused
			if c.all {
				want = 0
			}
			if len(res.Rejected) != want || c.all && err == nil {
				t.Errorf("%s: got %d rejected and %v, want %d", c.name, len(res.Rejected), err, want)
			}
		})
	}
}

// A limit that was lowered doubles until it is the maximum again.
func TestLimitRisesToTheMaximum(t *testing.T) {
	for limit, want := range map[int]int{
		100: 200, 499: 998, 500: 1000, 501: 1000, 999: 1000, 1000: 1000,
	} {
		s := (&lineServer{refuse: func(string) int { return http.StatusOK }}).sender(t, nil)
		s.max, s.limit, s.limited = 1000, limit, time.Now().Add(-2*limitTime)
		res, err := s.Deliver(context.Background(), recordsOf(1))
		if res.Accepted != 1 || err != nil || s.limit != want {
			t.Errorf("%d: got a limit of %d, %+v, %v, want %d", limit, s.limit, res, err, want)
		}
	}
}

func TestTimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for since, want := range map[time.Duration]int{limitTime: 100, limitTime + 1: 200} {
			s := (&lineServer{refuse: func(string) int { return http.StatusOK }}).sender(t, nil)
			s.max, s.limit, s.limited = 1000, 100, time.Now().Add(-since)
			res, err := s.Deliver(context.Background(), recordsOf(1))
			if res.Accepted != 1 || err != nil || s.limit != want {
				t.Errorf("after %v: got a limit of %d, %+v and %v, want %d",
					since, s.limit, res, err, want)
			}
		}
		now := time.Now()
		s := &Sender{client: &Client{c: Config{Timeout: time.Second}}}
		for since, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
			if got := s.late(now.Add(-since)); got != want {
				t.Errorf("%v: got late %v, want %v", since, got, want)
			}
		}
	})
}

// Post makes one attempt, and waits before it only if the server has requested
// that.
func TestPostWaitsIfRequested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lineServer{refuse: func(string) int { return http.StatusServiceUnavailable }}
		c, err := New(Config{URL: "http://server/", Dial: l.dial, Timeout: 10 * time.Second})
		must.Succeed(t, err)
		defer c.Close()
		for _, after := range []time.Duration{-time.Second, 0, time.Second, 10 * time.Second} {
			c.after = time.Now().Add(after)
			begin, before := time.Now(), l.requests
			resp, err := c.Post(t.Context(), []byte("x\n"))
			took := time.Since(begin)
			if err != nil || resp.Status != 503 || l.requests != before+1 || took != max(after, 0) {
				t.Errorf("%v: got %v, %v after %v, %d requests",
					after, resp.Status, err, took, l.requests-before)
			}
		}
		c.after = time.Now().Add(time.Minute)
		for left := 50; left >= 0; left -= 10 {
			_, err = c.Post(t.Context(), []byte("x\n"))
			want := fmt.Sprintf("no further request for %ds", left)
			if sent := left == 0; (err == nil) != sent || !sent && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		c.after = time.Now().Add(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Post(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
	})
}

// A request of one record cannot become shorter.
func TestTimeoutsShortenRequestsOfSeveralRecords(t *testing.T) {
	for n, shorter := range map[int]bool{1: false, 2: true} {
		synctest.Test(t, func(t *testing.T) {
			read := 0
			c, err := New(Config{
				URL: "http://server/", Timeout: time.Second,
				Dial: endlessServer(http.StatusOK, true, &read),
			})
			must.Succeed(t, err)
			defer c.Close()
			s := NewSender(c, lines{}, 1<<20)
			_, err = s.Deliver(context.Background(), recordsOf(n))
			if err == nil || (s.limit < 1<<20) != shorter {
				t.Errorf("%d records: got %v and a limit of %d, want it lower: %v",
					n, err, s.limit, shorter)
			}
		})
	}
}

// A timeout is marked if there was a connection.
func TestTimeoutOfARequest(t *testing.T) {
	for _, connects := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server, client := net.Pipe()
			defer server.Close()
			c, err := New(Config{URL: "http://127.0.0.1:1", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if !connects {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return client, nil
			}})
			must.Succeed(t, err)
			defer c.Close()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			if _, err := c.Post(context.Background(), []byte("x")); errors.Is(err,
				os.ErrDeadlineExceeded) != connects ||
				!strings.Contains(err.Error(), ": no response within Timeout") {
				t.Errorf("connected %v: got %v", connects, err)
			}
		})
	}
}
