// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/must"
)

// A server has an index. answer decides what happens to a request; without it
// all documents are created.
type server struct {
	answer func(w http.ResponseWriter, q *request) (done bool)
	item   func(q *request, id string, line []byte) (status int, fault string)

	mu       sync.Mutex
	requests int
	sizes    []int // documents of the requests
	index    map[string][]byte
	order    []string // ids in the order of their creation
	faults   []string
}

type request struct {
	*http.Request
	number, size int
	body         []byte
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		in, _ = gzip.NewReader(r.Body)
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(body) == 0 && s.answer == nil {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"root_cause":[{"type":"parse_exception","reason":"request body is required"}],"type":"parse_exception","reason":"request body is required"},"status":400}`)
		return
	}
	s.requests++
	q := &request{r, s.requests, len(body), body}
	if r.URL.Path != "/logs/_bulk" || r.Header.Get("Content-Type") != "application/x-ndjson" || !bytes.HasSuffix(body, []byte("}\n")) {
		s.faults = append(s.faults, fmt.Sprintf("%s %s %v", r.Method, r.URL, r.Header))
	}
	if s.answer != nil && s.answer(w, q) {
		return
	}
	text := s.bulk(q, body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// bulk creates documents, and returns the response.
func (s *server) bulk(q *request, body []byte) []byte {
	items := []string{}
	lines := bytes.Split(bytes.TrimSuffix(body, newline), newline)
	for i := 0; i+1 < len(lines); i += 2 {
		var action struct {
			Create struct {
				ID string `json:"_id"`
			}
		}
		if err := json.Unmarshal(lines[i], &action); err != nil {
			s.faults = append(s.faults, err.Error())
		}
		id, line := action.Create.ID, bytes.Clone(lines[i+1])
		status, fault := 201, ""
		if s.item != nil {
			status, fault = s.item(q, id, line)
		}
		if _, ok := s.index[id]; ok && status == 201 {
			status, fault = 409, `{"type":"version_conflict_engine_exception","reason":"document already exists"}`
		}
		if status == 201 {
			if s.index == nil {
				s.index = map[string][]byte{}
			}
			s.index[id], s.order = line, append(s.order, id)
		}
		item := fmt.Sprintf(`{"create":{"status":%d`, status)
		if fault != "" {
			item += `,"error":` + fault
		}
		items = append(items, item+"}}")
	}
	s.sizes = append(s.sizes, len(items))
	return fmt.Appendf(nil, `{"items":[%s]}`, strings.Join(items, ","))
}

// open returns a destination, which ends with the test. Unless c dials, it is
// connected to h by pipes.
func open(t *testing.T, h http.Handler, c Config) *Destination {
	t.Helper()
	if c.Dial == nil {
		c.Dial = httpsendtest.Serve(t, h).Dial
	}
	d, err := New("http://opensearch:9200", "logs", c)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// batchOf makes n records.
func batchOf(n int) []nib.Record {
	batch := make([]nib.Record, n)
	for i := range batch {
		batch[i] = nib.Record{Line: fmt.Appendf(nil, `{"@timestamp":"2026-01-02T15:04:05.000Z","n":%d,"message":"m"}`+"\n", i+1), Spool: 7, Seq: uint64(i + 1)}
	}
	return batch
}

// answering responds to short requests with the first text, and to others with
// the second.
type answering [2][]byte

func (a answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	_, _ = w.Write(a[min(n/10000, 1)])
}
