// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
)

// A failure is a case, and the expected outcome of 100 records in it.
type failure struct {
	name     string
	answer   func(w http.ResponseWriter, q *request) bool
	item     func(q *request, id string, line []byte) (int, string)
	after    [2]time.Duration // when everything is settled, from and to
	requests int              // 0: any number
	present  int              // records that existed already; -1: any number
	rejected []string         // the reasons in Rejected
	failures string           // a part of an error
	sizes    []int            // documents of each request
}

// first returns a handler that uses a for the first n requests.
func first(n int, a func(http.ResponseWriter, *request) bool) func(http.ResponseWriter, *request) bool {
	return func(w http.ResponseWriter, q *request) bool { return q.number <= n && a(w, q) }
}

func status(code int, header ...string) func(http.ResponseWriter, *request) bool {
	return func(w http.ResponseWriter, _ *request) bool {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
		return true
	}
}

// cut creates the documents, and sends the beginning of a response.
func cut(s **server, text string) func(http.ResponseWriter, *request) bool {
	return func(w http.ResponseWriter, q *request) bool {
		var body []byte
		for _, r := range batchOf(100) {
			body = append(appendAction(body, &r), r.Line...)
		}
		(*s).bulk(q, body)
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
		return true
	}
}

// items creates the documents, and changes the items of the response. The 50th
// says that its record is refused.
func items(s **server, change func([]string) []string) func(http.ResponseWriter, *request) bool {
	return func(w http.ResponseWriter, q *request) bool {
		(*s).bulk(q, q.body)
		list := slices.Repeat([]string{`{"create":{"status":201}}`}, 100)
		list[49] = `{"create":{"status":400,"error":{"type":"mapper_parsing_exception"}}}`
		_, _ = io.WriteString(w, `{"items":[`+strings.Join(change(list), ",")+`]}`)
		return true
	}
}

// ofIndex refuses all records but the first of the first request with an error
// of the index, for some requests.
func ofIndex(fault string) func(q *request, id string, _ []byte) (int, string) {
	return func(q *request, id string, _ []byte) (int, string) {
		if q.number < 4 && !strings.HasSuffix(id, "-1") {
			return 400, fault
		}
		return 201, ""
	}
}

const busy = `{"type":"es_rejected_execution_exception","reason":"queue is full"}`

const second, minute = time.Second, time.Minute

// passing returns the temporary failures, after which requests are repeated.
func passing(s **server) []failure {
	return []failure{
		{name: "no failure", requests: 1},
		{name: "429 with Retry-After", answer: first(1, status(429, "Retry-After", "30")), after: [2]time.Duration{30 * second, 40 * second}, requests: 2, failures: "429 Too Many Requests, retry after 30s"},
		{name: "503", answer: first(4, status(503)), after: [2]time.Duration{4 * second, 4 * second}, requests: 5},
		{name: "slow, one request per second", answer: func(http.ResponseWriter, *request) bool { time.Sleep(second); return false }, after: [2]time.Duration{second, second}, requests: 1},
		{name: "half a response", answer: first(1, cut(s, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"items\":[")), requests: 2, present: 100},
		{name: "half of the items", answer: first(1, cut(s, "HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n{\"items\":[{\"create\":{\"status\":201}}]")), requests: 2, present: 100, failures: "1 items for 100 records"},
		{name: "an item is missing", answer: first(1, items(s, func(list []string) []string { return slices.Delete(list, 7, 8) })), requests: 2, present: 100, failures: "99 items for 100 records"},
		{name: "an item too many", answer: first(1, items(s, func(list []string) []string { return append(list, list[0]) })), requests: 2, present: 100, failures: "101 items for 100 records"},
		{name: "a reset in front of the response", answer: first(1, cut(s, "")), requests: 2, present: 100},
		{name: "429 for some items", item: func(q *request, id string, _ []byte) (int, string) {
			if q.number < 4 && strings.HasSuffix(id, "5") {
				return 429, busy
			}
			return 201, ""
		}, sizes: []int{100, 10, 10, 10}, after: [2]time.Duration{3 * second, 3 * second}, failures: "429 es_rejected_execution_exception: queue is full"},
		{name: "429 for an item for a minute", item: func() func(q *request, id string, _ []byte) (int, string) {
			var begin time.Time
			return func(q *request, id string, _ []byte) (int, string) {
				if begin.IsZero() {
					begin = time.Now()
				}
				if time.Since(begin) < minute && strings.HasSuffix(id, "-50") {
					return 429, busy
				}
				return 201, ""
			}
		}(), after: [2]time.Duration{minute, 80 * second}, failures: "queue is full", present: -1},
	}
}

// refusing returns the failures of single records, and those that last until
// the server is configured.
func refusing() []failure {
	return []failure{
		{name: "mapping errors", item: func(q *request, id string, _ []byte) (int, string) {
			if strings.HasSuffix(id, "-42") || strings.HasSuffix(id, "-43") {
				return 400, `{"type":"mapper_parsing_exception","reason":"failed to parse field [n] of type [date]"}`
			}
			return 201, ""
		}, requests: 1, rejected: []string{"0000000000000007-42: nib/elastic: 400 mapper_parsing_exception: failed to parse field [n]", "0000000000000007-43: "}},
		{name: "a mapping that refuses everything", item: func(q *request, id string, _ []byte) (int, string) {
			if q.number < 4 {
				return 400, `{"type":"mapper_parsing_exception","reason":"` + id + ` has no n"}`
			}
			return 201, ""
		}, after: [2]time.Duration{3 * second, 6 * second}, requests: 4, failures: "every record is refused, and none was ever accepted; they wait: nib/elastic: 400 mapper_parsing_exception: 0000000000000007-1 has no n"},
		{name: "a closed index", item: ofIndex(`{"type":"index_closed_exception","reason":"closed"}`), requests: 4, failures: "400 index_closed_exception: closed"},
		{name: "too many shards", item: ofIndex(`{"type":"validation_exception","reason":"Validation Failed: 1: this action would add [2] shards"}`), requests: 4, failures: "would add [2] shards"},
		{name: "too many shards, in OpenSearch", item: ofIndex(`{"type":"illegal_argument_exception","reason":"Validation Failed: 1: this action would add [2] total shards"}`), requests: 4, failures: "would add [2] total shards"},
		{name: "a pipeline that does not exist", item: ofIndex(`{"type":"illegal_argument_exception","reason":"pipeline with id [p] does not exist"}`), requests: 4, failures: "pipeline with id [p]"},
		{name: "long reasons", item: func(q *request, id string, _ []byte) (int, string) {
			if strings.HasSuffix(id, "0") {
				return 400, `{"type":"mapper_parsing_exception","reason":"` + strings.Repeat("x", 2<<20) + `"}`
			}
			return 201, ""
		}, sizes: []int{100, 49, 49, 2}, present: -1, rejected: func() (list []string) {
			for n := 10; n <= 100; n += 10 {
				list = append(list, fmt.Sprintf("0000000000000007-%d: nib/elastic: 400 mapper_parsing_exception: xxx", n))
			}
			return list
		}()},
		{name: "a read-only index", item: func(q *request, id string, _ []byte) (int, string) {
			if q.number < 3 {
				return 403, `{"type":"cluster_block_exception","reason":"index read-only"}`
			}
			return 201, ""
		}, requests: 3, failures: "403 cluster_block_exception"},
		{name: "413 above a size", answer: func(w http.ResponseWriter, q *request) bool {
			if q.size > 3000 {
				w.WriteHeader(413)
			}
			return q.size > 3000
		}},
		{name: "413 for a single line", answer: func(w http.ResponseWriter, q *request) bool {
			large := bytes.Contains(q.body, []byte(`-100"`))
			if large {
				w.WriteHeader(413)
			}
			return large
		}, present: 2, rejected: []string{"0000000000000007-100: nib/elastic: POST http://opensearch:9200/logs/_bulk"}},
		{name: "no response", answer: func(w http.ResponseWriter, q *request) bool {
			if q.number == 1 {
				<-q.Context().Done()
			}
			return q.number == 1
		}, after: [2]time.Duration{30 * second, 35 * second}, requests: 2, failures: "no response within Timeout"},
		{name: "401, 404 and a redirect", answer: first(3, func(w http.ResponseWriter, q *request) bool {
			return status([]int{401, 404, 302}[q.number-1], "Location", "/login")(w, q)
		}), after: [2]time.Duration{3 * second, 6 * second}, requests: 4, failures: `a redirect to "/login"`},
		{name: "not JSON", answer: first(1, func(w http.ResponseWriter, _ *request) bool { _, _ = io.WriteString(w, "hello"); return true }), requests: 2, failures: "cannot be read: nib/elastic: POST http://opensearch:9200/logs/_bulk: 200 OK: hello"},
	}
}

// docs/elastic.md has the same table. In no case is a record lost or
// duplicated.
func TestFailures(t *testing.T) {
	var current *server
	for _, tt := range append(passing(&current), refusing()...) {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{answer: tt.answer, item: tt.item}
				current = s
				var reported []string
				report := func(err error) { reported = append(reported, err.Error()) }
				d := open(t, s, Config{OnError: report})
				d.Start(7)
				begin, batch := time.Now(), batchOf(100)
				rejected, _ := httpsendtest.DeliverAll(t, d, batch)
				if took := time.Since(begin); tt.after[1] > 0 && (took < tt.after[0] || took > tt.after[1]) {
					t.Errorf("all is settled after %v, want %v to %v", took, tt.after[0], tt.after[1])
				}
				if tt.requests > 0 && s.requests != tt.requests || tt.sizes != nil && fmt.Sprint(s.sizes) != fmt.Sprint(tt.sizes) {
					t.Errorf("got %d requests with %d documents, want %d with %d", s.requests, s.sizes, tt.requests, tt.sizes)
				}
				for i, prefix := range tt.rejected {
					if len(rejected) != len(tt.rejected) || !strings.HasPrefix(rejected[i], prefix) {
						t.Fatalf("rejected %q, want %q", rejected, tt.rejected)
					}
				}
				if len(s.faults) > 0 || len(s.order) != 100-len(rejected) || len(rejected) != len(tt.rejected) {
					t.Errorf("%d documents, %q rejected, %q", len(s.order), rejected, s.faults)
				}
				if st := d.Stats(); st.Rejected != uint64(len(rejected)) || tt.present >= 0 && st.Present != uint64(tt.present) {
					t.Errorf("got %+v", st)
				}
				if text := strings.Join(reported, "\n"); !strings.Contains(text, tt.failures) {
					t.Errorf("%q is not in %q", tt.failures, reported)
				}
			})
		})
	}
}

// The server is down for a minute: no connection is accepted.
func TestServerIsDownForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		up := time.Now().Add(time.Minute)
		l := httpsendtest.Serve(t, s)
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if time.Now().Before(up) {
				return nil, errors.New("connection refused")
			}
			return l.Dial(ctx, network, addr)
		}
		d := open(t, nil, Config{Dial: dial})
		begin := time.Now()
		if rejected, errs := httpsendtest.DeliverAll(t, d, batchOf(100)); len(errs) < 4 ||
			len(rejected) > 0 || !strings.Contains(errs[0].Error(), "connection refused") {
			t.Errorf("got %q and %q", errs, rejected)
		}
		if took := time.Since(begin); took < time.Minute || took > 70*time.Second || len(s.order) != 100 {
			t.Errorf("%d documents after %v", len(s.order), took)
		}
	})
}

// A line that would break the format of a request is rejected, and the lines
// around it are created.
func TestLinesThatAreNoDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		d := open(t, s, Config{})
		batch := batchOf(6)
		for i, line := range []string{"text\n", "{\"a\":1}\n{\"delete\":{}}\n", "\n", ""} {
			batch[i+1].Line = []byte(line)
		}
		rejected, errs := httpsendtest.DeliverAll(t, d, batch)
		if len(rejected) != 4 || len(errs) > 0 || len(s.order) != 2 {
			t.Errorf("%d documents, %q rejected, %q", len(s.order), rejected, errs)
		}
	})
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]Config{"plain": {}, "gzip": {Compression: "gzip"}, "short requests": {MaxRequest: 4096}} {
		t.Run(name, func(t *testing.T) {
			nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
				s := &server{}
				h := httptest.NewServer(s)
				t.Cleanup(h.Close)
				d, err := New(h.URL, "logs", c)
				must.Succeed(t, err)
				return d, func() (lines [][]byte) {
					s.mu.Lock()
					defer s.mu.Unlock()
					for _, f := range s.faults {
						t.Error(f)
					}
					for _, id := range s.order {
						lines = append(lines, append(s.index[id], '\n'))
					}
					return lines
				}
			})
		})
	}
}

// A certificate for another name is an error on each attempt; nothing is sent.
func TestCertificateOfAnotherName(t *testing.T) {
	s := &server{}
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	defer h.Close()
	config := h.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	for name, want := range map[string]int{"opensearch.test": 0, "example.com": 10} { // the certificate has the second one
		config.ServerName = name
		d, err := New(h.URL, "logs", Config{TLS: config.Clone()})
		must.Succeed(t, err)
		defer d.Close()
		res, err := d.Deliver(context.Background(), batchOf(10))
		if res.Accepted != want || len(res.Rejected) > 0 || (err == nil) != (want > 0) || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %+v and %v", name, res, err)
		}
	}
	if len(s.order) != 10 || s.requests != 1 {
		t.Errorf("got %d documents in %d requests", len(s.order), s.requests)
	}
}

func TestReasonsOfTheServerAreHarmless(t *testing.T) {
	fault := `{"type":"x\u001b[2J","reason":"line\n\u202etwo` + strings.Repeat("ä", 5000) + `"}`
	got := itemError(400, []byte(fault)).Error()
	if want := "nib/elastic: 400 x[2J: line twoäää"; !strings.HasPrefix(got, want) || len(got) > 1100 || !utf8.ValidString(got) {
		t.Errorf("got %d bytes, %.60q", len(got), got)
	}
	want := `nib/elastic: 400 Bad Request: "no number"`
	if got := itemError(400, []byte(`"no number"`)).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
