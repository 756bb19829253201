// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

func bytesReader(b []byte) io.Reader { return bytes.NewReader(b) }

// numberOf returns the number of a record.
func numberOf(r *logspb.LogRecord) (n int) {
	_, _ = fmt.Sscanf(uidOf(r), "0000000000000007-%d", &n)
	return n
}

// hijacked answers with bytes and closes the connection.
func hijacked(w http.ResponseWriter, text string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
}

// partial answers that records were rejected.
func partial(w http.ResponseWriter, q *request, rejected int64, message string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/x-protobuf")
	}
	q.accept()
	b, _ := proto.Marshal(&collogspb.ExportLogsServiceResponse{PartialSuccess: &collogspb.ExportLogsPartialSuccess{
		RejectedLogRecords: rejected, ErrorMessage: message,
	}})
	_, _ = w.Write(b)
}

// first returns a handler that uses a for the first n requests.
func first(n int, a func(http.ResponseWriter, *request)) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, q *request) {
		if q.number <= n {
			a(w, q)
			return
		}
		ok(w, q)
	}
}

// during returns a handler that uses a for some time after the first request.
func during(d time.Duration, a func(http.ResponseWriter, *request)) func(http.ResponseWriter, *request) {
	var begin time.Time
	return func(w http.ResponseWriter, q *request) {
		if begin.IsZero() {
			begin = time.Now()
		}
		if time.Since(begin) < d {
			a(w, q)
			return
		}
		ok(w, q)
	}
}

// A failure is a case, and the expected outcome of 100 records in it.
type failure struct {
	name     string
	answer   func(http.ResponseWriter, *request)
	after    [2]time.Duration // when everything is settled, from and to
	requests int              // with records; 0: any number
	twice    int              // records that have arrived twice
	rejected []string         // the reasons in Rejected
	partial  uint64
	failures string // a part of an error
}

// passing returns the temporary failures, after which requests are repeated.
func passing() []failure {
	return []failure{
		{name: "no failure", answer: ok, requests: 1},
		{name: "429 with Retry-After in seconds", answer: first(1, status(429, "Retry-After", "30")), after: [2]time.Duration{30 * time.Second, 40 * time.Second}, requests: 2, failures: "429 Too Many Requests, retry after 30s"},
		{name: "503 with Retry-After as a date", answer: first(2, date), after: [2]time.Duration{38 * time.Second, 42 * time.Second}, requests: 3, failures: "503 Service Unavailable, retry after"},
		{name: "503 without Retry-After", answer: first(4, status(503)), after: [2]time.Duration{4 * time.Second, 4 * time.Second}, requests: 5},
		{name: "502 and 504", answer: first(2, func(w http.ResponseWriter, q *request) { w.WriteHeader(500 + 2*q.number) }), after: [2]time.Duration{2 * time.Second, 2 * time.Second}, requests: 3},
		{name: "Retry-After without end", answer: first(1, status(503, "Retry-After", "4000000000")), after: [2]time.Duration{10 * time.Minute, 11 * time.Minute}, requests: 2, failures: "503"},
		{name: "slow, one request per second", answer: func(w http.ResponseWriter, q *request) { time.Sleep(time.Second); ok(w, q) }, after: [2]time.Duration{time.Second, time.Second}, requests: 1},
		{name: "no response", answer: first(1, func(_ http.ResponseWriter, q *request) { q.accept(); <-q.Context().Done() }), after: [2]time.Duration{10 * time.Second, 15 * time.Second}, requests: 2, twice: 100, failures: "no response within Timeout"},
		{name: "half a response", answer: first(1, func(w http.ResponseWriter, q *request) {
			q.accept()
			hijacked(w, "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 10\r\n\r\n\x0a")
		}), after: [2]time.Duration{50 * time.Millisecond, time.Second}, requests: 2, twice: 100},
		{name: "a reset in front of the response", answer: first(1, func(w http.ResponseWriter, q *request) { q.accept(); hijacked(w, "") }), after: [2]time.Duration{50 * time.Millisecond, time.Second}, requests: 2, twice: 100},
		{name: "not HTTP", answer: first(1, func(w http.ResponseWriter, q *request) { hijacked(w, "SSH-2.0-OpenSSH\r\n") }), after: [2]time.Duration{50 * time.Millisecond, time.Second}, requests: 2},
	}
}

// refusing returns the responses after which a request must not be repeated.
func refusing() []failure {
	return []failure{
		{name: "400 for two records", answer: bad, rejected: []string{"0000000000000007-42: ", "0000000000000007-43: "}},
		{name: "400 for everything at first", answer: during(5*time.Second, status(400)), failures: "400 Bad Request", after: [2]time.Duration{5 * time.Second, 10 * time.Second}},
		{name: "400 for most", answer: func(w http.ResponseWriter, q *request) {
			if slices.ContainsFunc(q.records,
				func(r *logspb.LogRecord) bool { return numberOf(r)%10 != 0 }) {
				w.WriteHeader(400)
				return
			}
			ok(w, q)
		}, rejected: slices.DeleteFunc(numbers(1, 99),
			func(text string) bool { return strings.HasSuffix(text, "0: ") })},
		{name: "413 above a size", answer: func(w http.ResponseWriter, q *request) {
			if q.size > 2000 {
				w.WriteHeader(413)
				return
			}
			ok(w, q)
		}},
		{name: "413 for a single record", answer: func(w http.ResponseWriter, q *request) {
			if slices.ContainsFunc(q.records, func(r *logspb.LogRecord) bool { return numberOf(r) == 100 }) {
				w.WriteHeader(413)
				return
			}
			ok(w, q)
		}, rejected: []string{"0000000000000007-100: "}},
		{name: "401 until the token is right", answer: first(20, status(401)), after: [2]time.Duration{20 * time.Second, 3 * time.Minute}, failures: "401 Unauthorized"},
		{name: "404, and 500", answer: first(2, func(w http.ResponseWriter, q *request) { w.WriteHeader(404 + 96*(q.number-1)) }), after: [2]time.Duration{time.Second, 5 * time.Second}, requests: 3, failures: "404 Not Found"},
		{name: "a redirect", answer: first(1, status(307, "Location", "http://elsewhere/")), after: [2]time.Duration{time.Second, 3 * time.Second}, requests: 2, failures: `a redirect to "http://elsewhere/", which is not followed`},
		{name: "the page of a proxy", answer: first(1, func(w http.ResponseWriter, q *request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html>log in")
		}), after: [2]time.Duration{time.Second, 3 * time.Second}, requests: 2, failures: "log in"},
		{name: "a response of 100 MB", answer: func(w http.ResponseWriter, q *request) {
			ok(w, q)
			for range 1600 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, requests: 1},
		{name: "204", answer: func(w http.ResponseWriter, q *request) { q.accept(); w.WriteHeader(204) }, requests: 1},
		{name: "partial success", answer: func(w http.ResponseWriter, q *request) { partial(w, q, 3, "too old") }, requests: 1, partial: 3},
		{name: "partial success with a message that is longer than a response may be", answer: func(w http.ResponseWriter, q *request) { partial(w, q, 3, strings.Repeat("too old; ", 10000)) }, requests: 1, partial: 3, failures: "too old; "},
		{name: "a warning", answer: func(w http.ResponseWriter, q *request) { partial(w, q, 0, "too\x1b[2J\nold") }, requests: 1, failures: "rejected 0 of 100 records, and does not say which: too[2J old"},
	}
}

func date(w http.ResponseWriter, _ *request) {
	w.Header().Set("Retry-After", time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
	w.WriteHeader(http.StatusServiceUnavailable)
}

func bad(w http.ResponseWriter, q *request) {
	if slices.ContainsFunc(q.records, func(r *logspb.LogRecord) bool { return numberOf(r) == 42 || numberOf(r) == 43 }) {
		http.Error(w, "mapping", http.StatusBadRequest)
		return
	}
	ok(w, q)
}

// docs/otlp.md has the same table. In no case is a record lost.
func TestFailures(t *testing.T) {
	for _, tt := range append(passing(), refusing()...) {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &receiver{answer: tt.answer}
				var reported []string
				report := func(err error) { reported = append(reported, err.Error()) }
				d := open(t, collector, s, otlp.Config{OnError: report})
				begin, batch := time.Now(), batchOf(1, 100)
				rejected, _ := httpsendtest.DeliverAll(t, d, batch)
				if took := time.Since(begin); tt.after[1] > 0 && (took < tt.after[0] || took > tt.after[1]) {
					t.Errorf("all is settled after %v, want %v to %v", took, tt.after[0], tt.after[1])
				}
				if tt.requests > 0 && s.requests != tt.requests {
					t.Errorf("got %d requests, want %d", s.requests, tt.requests)
				}
				s.check(t)
				checkArrival(t, s.uids(), uidsOf(batch), rejected, tt.rejected, tt.twice)
				if st := d.Stats(); st.PartialRejected != tt.partial || st.Rejected != uint64(len(tt.rejected)) || st.Records < uint64(100-len(tt.rejected)) {
					t.Errorf("got %+v", st)
				}
				if text := strings.Join(reported, "\n"); !strings.Contains(text, tt.failures) || tt.partial > 0 && !strings.Contains(text, "rejected 3 of 100 records") {
					t.Errorf("%q is not in %q", tt.failures, reported)
				}
			})
		})
	}
}

// numbers returns the beginnings of the expected rejections.
func numbers(from, to int) (list []string) {
	for n := from; n <= to; n++ {
		list = append(list, fmt.Sprintf("0000000000000007-%d: ", n))
	}
	return list
}

// checkArrival checks that each record has arrived or was rejected.
func checkArrival(t *testing.T, got, want, rejected, wantRejected []string, twice int) {
	t.Helper()
	count := map[string]int{}
	for _, uid := range got {
		count[uid]++
	}
	repeated := 0
	for i, prefix := range wantRejected {
		if len(rejected) != len(wantRejected) || !strings.HasPrefix(rejected[i], prefix) {
			t.Fatalf("rejected %q, want %q", rejected, wantRejected)
		}
		count[strings.TrimSuffix(prefix, ": ")]++
	}
	for _, uid := range want {
		if count[uid] == 0 {
			t.Errorf("%s is lost", uid)
		}
		repeated += max(count[uid]-1, 0)
	}
	compared := 0 // how often an accepted record may arrive again to be compared with refused ones
	if len(rejected) > 0 {
		compared = 3
	}
	if len(rejected) != len(wantRejected) || repeated < twice || repeated > twice+compared {
		t.Errorf("%d records are there twice, want %d; rejected %q", repeated, twice, rejected)
	}
}

// The server is down for a minute: no connection is accepted.
func TestServerIsDownForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &receiver{}
		up := time.Now().Add(time.Minute)
		l := httpsendtest.Serve(t, s)
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if time.Now().Before(up) {
				return nil, errors.New("connection refused")
			}
			return l.Dial(ctx, network, addr)
		}
		d := open(t, collector, nil, otlp.Config{Dial: dial})
		begin, batch := time.Now(), batchOf(1, 100)
		_, errs := httpsendtest.DeliverAll(t, d, batch)
		if took := time.Since(begin); took < time.Minute || took > 70*time.Second {
			t.Errorf("delivered after %v", took)
		}
		if len(errs) < 4 || !strings.Contains(errs[0].Error(), "nib/otlp: POST http://collector:4318/v1/logs: ") || !strings.Contains(errs[0].Error(), "connection refused") {
			t.Errorf("got %q, want an error of each attempt", errs)
		}
		if n := d.Stats().Requests; n != uint64(len(errs)+1) {
			t.Errorf("%d requests and %d errors", n, len(errs))
		}
		checkArrival(t, s.uids(), uidsOf(batch), nil, nil, 0)
	})
}

// Status 400 for everything, including an empty request, is an error of the
// configuration: nothing is rejected.
func TestWrongPathHoldsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "unsupported path", http.StatusBadRequest)
		})
		d := open(t, "http://collector:4318/wrong", h, otlp.Config{})
		res, err := d.Deliver(context.Background(), batchOf(1, 100))
		if res.Accepted != 0 || err == nil || !strings.Contains(err.Error(), "400 Bad Request: unsupported path") {
			t.Errorf("got %+v and %v, want nothing settled and the server's text", res, err)
		}
	})
}

// If a partial success rejects all records of a request, they are known, and
// are not sent again. A server may count more records than it was sent.
func TestPartialSuccessForAllIsRejected(t *testing.T) {
	for _, more := range []int64{0, 1, math.MaxInt64 - 100} {
		synctest.Test(t, func(t *testing.T) {
			s := &receiver{answer: func(w http.ResponseWriter, q *request) {
				w.Header().Set("Content-Type", "Application/X-Protobuf") // the case does not matter
				partial(w, q, int64(len(q.records))+more, "quota")
			}}
			d := open(t, collector, s, otlp.Config{})
			rejected, _ := httpsendtest.DeliverAll(t, d, batchOf(1, 100))
			if len(rejected) != 100 || !strings.HasSuffix(rejected[99], "were rejected: quota") || s.requests != 1 {
				t.Errorf("%d more: got %d rejections in %d requests: %.200q", more, len(rejected), s.requests, rejected)
			}
			if st := d.Stats(); st.Records != 0 || st.Rejected != 100 || st.PartialRejected != 0 {
				t.Errorf("%d more: got %+v, want 100 rejected records", more, st)
			}
		})
	}
}

// A certificate for another name is an error on each attempt; nothing is sent.
func TestCertificateOfAnotherName(t *testing.T) {
	s := &receiver{}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = quiet
	server.StartTLS()
	defer server.Close()
	config := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.ServerName = "collector.test"
	d := open(t, server.URL+"/v1/logs", nil, otlp.Config{TLS: config})
	res, err := d.Deliver(context.Background(), batchOf(1, 10))
	if res.Accepted != 0 || err == nil || !strings.Contains(err.Error(), "collector.test") || s.requests != 0 {
		t.Errorf("got %+v and %v after %d requests", res, err, s.requests)
	}
	config.ServerName = "example.com" // the name in the certificate
	again := open(t, server.URL+"/v1/logs", nil, otlp.Config{TLS: config})
	batch := batchOf(1, 10)
	if _, errs := httpsendtest.DeliverAll(t, again, batch); len(errs) > 0 {
		t.Error(errs)
	}
	checkArrival(t, s.uids(), uidsOf(batch), nil, nil, 0)
}

// Close ends a call that waits.
func TestCloseInterruptsDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, collector, &receiver{answer: status(503, "Retry-After", "300")}, otlp.Config{})
		if _, err := d.Deliver(context.Background(), batchOf(1, 1)); err == nil {
			t.Fatal("got no error")
		}
		time.AfterFunc(time.Second, func() { _ = d.Close() })
		begin := time.Now()
		if _, err := d.Deliver(context.Background(), batchOf(1, 1)); !errors.Is(err, delivery.ErrClosed) || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v, want ErrClosed after 1 s", err, time.Since(begin))
		}
	})
}
