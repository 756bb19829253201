// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package elastic

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/seed"
)

// refusal answers a request with a status, also if net/http does not send it.
func refusal(w http.ResponseWriter, code int) {
	if code >= 200 {
		w.WriteHeader(code)
		if code != http.StatusNoContent && code != http.StatusNotModified {
			_, _ = fmt.Fprintf(w, `{"error":{"type":"x_content_parse_exception","reason":"[5:20] Duplicate field 'a'"},"status":%d}`, code)
		}
		return
	}
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 %d x\r\n\r\n", code)
		_ = c.Close()
	}
}

// A refusalKind is what gets the status of a document that is refused.
type refusalKind int

const (
	ofRequest  refusalKind = iota // the request
	ofItem                        // the item, whose reason names the document
	ofAllItems                    // each item of the request, for the same reason
	refusalKinds
)

// One document is the reason why a request or items get a status, at any
// position: it is rejected, and the others are created once. If all of them
// are, they wait.
func TestOneRefusedDocumentStopsNothing(t *testing.T) {
	const n = 3
	special := []int{100, 101, 204, 302, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504}
	cases, selected, run := 0, seed.Sample(t, 20, 20), seed.Sample(t, 2, 2)
	for code := 100; code < 600; code++ {
		if !slices.Contains(special, code) && (testing.Short() || !selected()) {
			continue
		}
		for kind := range refusalKinds {
			if kind != ofRequest && (code == 200 || code == 201 || code == 409) {
				continue
			}
			for bad := range n + 1 {
				if !run() {
					continue
				}
				cases++
				synctest.Test(t, func(t *testing.T) { checkRefused(t, code, kind, bad, n) })
			}
		}
	}
	t.Logf("%d cases", cases)
}

// item returns the status and the error of an item.
func (k refusalKind) item(
	code int, q *request, id string, line []byte, isBad func([]byte) bool,
) (int, string) {
	switch {
	case k == ofItem && isBad(line):
		return code, fmt.Sprintf(`{"type":"some_exception","reason":"document %s"}`, id)
	case k == ofAllItems && isBad(q.body):
		return code, `{"type":"parse_exception","reason":"Failed to parse content to map"}`
	}
	return 201, ""
}

// checkRefused checks that the document with the index bad is rejected; with
// index n, all are bad.
func checkRefused(t *testing.T, code int, kind refusalKind, bad, n int) {
	batch := batchOf(n)
	works := false
	s, d := refuse(t, code, kind, func(text []byte) bool {
		return !works && (bad == n || bytes.Contains(text, fmt.Appendf(nil, `"n":%d,`, bad+1)))
	})
	name := fmt.Sprintf("status %d, kind %d, document %d of %d", code, kind, bad, n)
	// the server has identified it
	ofDocument := kind == ofItem && (code == 400 || code == 413 || code == 422)
	if bad == n && !ofDocument {
		if rejected, _, left := httpsendtest.Deliver(d, batch, 40); len(rejected) > 0 ||
			left != n || len(s.order) > 0 {
			t.Errorf("%s: %d left, rejected %q, %d documents", name, left, rejected, len(s.order))
		}
		works = true
	}
	rejected, _ := httpsendtest.DeliverAll(t, d, batch)
	want := 1
	if bad == n {
		want = 0
	}
	if ofDocument && bad == n {
		want = n
	}
	if len(rejected) != want || len(s.order) != n-want || want == 1 &&
		!strings.HasPrefix(rejected[0], httpsendtest.UID(&batch[bad])) {
		t.Errorf("%s: rejected %q, %d documents", name, rejected, len(s.order))
	}
	if s.requests > 1000 {
		t.Errorf("%s: %d requests", name, s.requests)
	}
}

// Documents that always get 500 are rejected, and the others are created; the
// requests that are repeated have none of these. For each of two requests
// with new documents, an existing document is sent twice to compare.
func TestItemsThatFailForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{item: func(_ *request, _ string, line []byte) (int, string) {
			if bytes.Contains(line, []byte(`9,`)) {
				return 500, `{"type":"illegal_state_exception","reason":"cannot index"}`
			}
			return 201, ""
		}}
		d := open(t, s, Config{})
		batch := batchOf(1000)
		rejected, _ := httpsendtest.DeliverAll(t, d, batch)
		if len(rejected) != 100 || len(s.order) != 900 || d.Stats().Present > 4 {
			t.Errorf("%d rejected, %d created, %+v", len(rejected), len(s.order), d.Stats())
		}
		if !strings.Contains(rejected[0], "500 illegal_state_exception: cannot index") {
			t.Errorf("the reason is %q", rejected[0])
		}
	})
}

// A request that is refused until the pipeline is configured is not divided at
// once, and every document is created.
func TestRefusedRequestIsRepeatedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: first(4, func(w http.ResponseWriter, _ *request) bool {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "no")
			return true
		})}
		d := open(t, s, Config{})
		if rejected, _ := httpsendtest.DeliverAll(t, d, batchOf(100)); len(rejected) > 0 ||
			s.requests != 5 || len(s.order) != 100 {
			t.Errorf("%d documents after %d requests, rejected %q", len(s.order), s.requests,
				rejected)
		}
	})
}

// Several documents are refused, among them the first and the last ones: they
// are found in a bounded number of requests, and the others are created once.
func TestRefusedDocumentsAtEachPosition(t *testing.T) {
	sets := func(n int) [][]int {
		return [][]int{{0}, {n - 1}, {0, n - 1}, {0, n - 2, n - 1}, {n/2 - 1, n / 2},
			{0, 1, n / 2, n - 1}}
	}
	cases, most, run := 0, map[int]int{}, seed.Sample(t, 8, 12)
	codes := []int{400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 599}
	for _, n := range []int{8, 33, 100} {
		for _, code := range codes {
			for kind := range refusalKinds {
				for _, bad := range sets(n) {
					if !run() {
						continue
					}
					cases++
					synctest.Test(t, func(t *testing.T) {
						requests := checkSet(t, code, kind, bad, n)
						most[n] = max(most[n], requests)
					})
				}
			}
		}
	}
	t.Logf("%d cases, requests at most: %v", cases, most)
}

// refuse returns a server that refuses documents, and a destination for it,
// which end with the test.
func refuse(t *testing.T, code int, kind refusalKind, isBad func([]byte) bool) (
	*server, *Destination,
) {
	t.Helper()
	s := &server{
		answer: func(w http.ResponseWriter, q *request) bool {
			refused := kind == ofRequest && isBad(q.body)
			if refused {
				refusal(w, code)
			}
			return refused
		},
		item: func(q *request, id string, line []byte) (int, string) {
			return kind.item(code, q, id, line, isBad)
		},
	}
	return s, open(t, s, Config{})
}

// checkSet checks that the documents with the indexes bad are rejected. It
// returns the number of requests.
func checkSet(t *testing.T, code int, kind refusalKind, bad []int, n int) (requests int) {
	t.Helper()
	batch := batchOf(n)
	isBad := func(text []byte) bool {
		return slices.ContainsFunc(bad, func(i int) bool {
			return bytes.Contains(text, fmt.Appendf(nil, `"n":%d,`, i+1))
		})
	}
	s, d := refuse(t, code, kind, isBad)
	name := fmt.Sprintf("status %d, kind %d, documents %d of %d", code, kind, bad, n)
	more := 0
	if n == 33 { // the server has accepted a document before
		more = 1
		if _, _, left := httpsendtest.Deliver(d, batchOf(100)[99:], 1); left > 0 {
			t.Fatalf("%s: the first one is refused", name)
		}
	}
	rejected, _, left := httpsendtest.Deliver(d, batch, 700) // more than ten minutes
	if left == n && len(rejected) == 0 {
		// Only refused documents are left, and the status may concern the
		// server: they wait for another document.
		n++
		rejected, _, left = httpsendtest.Deliver(d, batchOf(n), 700)
	}
	var want []string
	for _, i := range bad {
		want = append(want, httpsendtest.UID(&batch[i]))
	}
	for i, text := range rejected {
		rejected[i], _, _ = strings.Cut(text, ": ")
	}
	slices.Sort(rejected)
	slices.Sort(want)
	if left > 0 || !slices.Equal(rejected, want) || len(s.order) != n-len(bad)+more ||
		len(s.faults) > 0 {
		t.Errorf("%s: rejected %q, %d documents, %q", name, rejected, len(s.order), s.faults)
	}
	return s.requests
}

// TestRefusedBatch refuses every request with a document of a full batch, after
// it has created others: these are rejected, and the documents after them are
// created. The document that was sent again to compare is there once.
func TestRefusedBatch(t *testing.T) {
	const n, first, code = 40, 2, 400
	number := regexp.MustCompile(`"n":(\d+),`)
	isBad := func(text []byte) bool {
		return slices.ContainsFunc(number.FindAllSubmatch(text, -1), func(m [][]byte) bool {
			i, _ := strconv.Atoi(string(m[1]))
			return i > first && i <= first+n
		})
	}
	for _, kind := range []refusalKind{ofRequest, ofAllItems} {
		synctest.Test(t, func(t *testing.T) {
			batch := batchOf(first + n + 2)
			s, d := refuse(t, code, kind, isBad)
			d.Start(batch[0].Spool)
			httpsendtest.DeliverAll(t, d, batch[:first])
			rejected, _ := httpsendtest.DeliverAll(t, d, batch[first:first+n])
			httpsendtest.DeliverAll(t, d, batch[first+n:])
			if len(rejected) != n || len(s.order) != 4 || d.Stats().Records != 4 {
				t.Errorf("kind %d: %d rejected, want %d; got the documents %q",
					kind, len(rejected), n, s.order)
			}
		})
	}
}
