// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
)

func TestFieldsAddedBelowTheHandlerAreInTheAccessLine(t *testing.T) {
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		func(ctx context.Context) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			request.Add(ctx, func(e *nib.Event) { e.Str("cart", "c7").Dur("lookup", 2*time.Millisecond) })
			request.AddAttrs(ctx, slog.Int("items", 3), slog.Group("user", "id", 5))
		}(r.Context())
	}, nibhttp.Config{Fields: func(e *nib.Event, _ *http.Request) { e.Str("host", "h") }})
	g.do(newRequest("/"))
	wantLine(t, g.rec.Last(), head+`"level":"info","method":"GET","path":"/","status":200,"bytes":0,"took":0,`+
		`"remote":"192.0.2.1:1234","request_id":"r1","host":"h","cart":"c7","lookup":2,"items":3,"user":{"id":5},"message":"request"}`)
}

func TestFieldsAddedBeforeAPanicAreInTheAccessLine(t *testing.T) {
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		request.AddAttrs(r.Context(), slog.Int("items", 3))
		panic("boom")
	})
	_ = g.recovered(newRequest("/"))
	if f := g.rec.Find("request"); g.rec.Len() != 1 || f["items"] != 3.0 || f["panic"] != "boom" {
		t.Errorf("got %q", g.rec.Lines())
	}
}

func TestMallocsOfAddedFields(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	c := nibhttp.Config{Policy: request.New(request.Config{Slow: time.Hour, Sample: 3})}
	h := nibhttp.Middleware(nib.NewSink(discard{}), c)(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			ctx, id := r.Context(), r.RemoteAddr
			request.Add(ctx, func(e *nib.Event) { e.Str("customer", id).Int("items", len(id)) })
			request.AddAttrs(ctx, slog.String("a key that is longer than thirty-two bytes", id))
		}))
	r := httptest.NewRequest("GET", "/some/path", nil)
	var w http.ResponseWriter = nullWriter{http.Header{}}
	if got, _ := alloctest.Count(func() { h.ServeHTTP(w, r) }, 3000); got > 1.5 { // 1 without, and that key in 1 of 3
		t.Errorf("got %v mallocs a request, want 1 and a long key", got)
	}
}

type discard struct{}

func (discard) WriteRecord(*nib.Record) error { return nil }

// A ledger checks the events of many requests and keeps only sums.
type ledger struct {
	mu             sync.Mutex // protects all below
	events         []uint8    // by request
	weights, bytes float64    // sums, weighted
	faults         []string
}

func (l *ledger) fault(format string, args ...any) {
	if len(l.faults) < 10 {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

func (l *ledger) WriteRecord(r *nib.Record) error {
	var f struct {
		ID     string  `json:"request_id"`
		N      string  `json:"n"`
		Bytes  float64 `json:"added_bytes"`
		Weight float64 `json:"sample_weight"`
		Kind   string  `json:"kind"`
		Late   bool    `json:"late"`
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := json.Unmarshal(r.Line, &f); err != nil {
		l.fault("%v in %s", err, r.Line)
	}
	n, err := strconv.Atoi(f.ID)
	if err != nil || f.N != f.ID || f.Late {
		l.fault("request %s has a field of another one, or a late one: %s", f.ID, r.Line)
		return nil
	}
	l.events[n]++
	l.weights += f.Weight
	l.bytes += f.Weight * f.Bytes
	want := 1.0
	if isSampled(f.Kind) {
		want = sampleOf
	}
	if f.Weight != want {
		l.fault("the weight is %v, want %v: %s", f.Weight, want, r.Line)
	}
	return nil
}

const (
	sampleOf = 10

	kindPlain, kindHijack, kindFail  = "plain", "hijack", "fail"
	kindPanic, kindExit, kindMarked  = "panic", "exit", "marked"
	kindAbort, kindTimeout, kindGone = "abort", "timeout", "gone"
)

// kinds are how requests end.
var kinds = []string{kindPlain, kindPlain, kindPlain, kindPlain, kindPlain, kindPlain, kindHijack, kindGone,
	kindFail, kindPanic, kindExit, kindMarked, kindAbort, kindTimeout}

// isSampled reports whether only some requests of a kind have an event.
func isSampled(kind string) bool { return kind == kindPlain || kind == kindHijack || kind == kindGone }

// A hijackable writer is like the writer of net/http for HTTP/1.
type hijackable struct{ nullWriter }

func (hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

// end ends the handler of a request in its way.
func end(kind string, w http.ResponseWriter, r *http.Request) {
	switch kind {
	case kindHijack:
		_, _, _ = http.NewResponseController(w).Hijack()
	case kindFail:
		w.WriteHeader(http.StatusBadGateway)
	case kindPanic:
		panic("boom")
	case kindExit:
		runtime.Goexit()
	case kindMarked:
		request.Keep(r.Context())
	case kindAbort:
		panic(http.ErrAbortHandler)
	case kindTimeout:
		never.ServeHTTP(w, r)
	}
}

// Each request has its event exactly once, or the weights of others count for
// it, however it ends and whichever goroutine still adds fields.
func TestEventsOfManyRequests(t *testing.T) {
	count, workers, tolerance := seed.Times(1_000_000, 20_000, 20_000), 8, 0.1
	switch {
	case count > 20_000:
		tolerance = 0.01
	case count < 20_000:
		tolerance = 0.3
	}
	l := &ledger{events: make([]uint8, count)}
	policy := request.New(request.Config{Sample: sampleOf})
	kind := func(n int) string { return kinds[n%len(kinds)*7919%len(kinds)] }
	var lateAdded atomic.Int64
	serve := func(w http.ResponseWriter, r *http.Request) {
		ctx, id := r.Context(), r.Header.Get("X-Request-Id")
		ctx.Value(capture{}).(*captured).ctx = ctx
		n, _ := strconv.Atoi(id)
		request.AddAttrs(ctx, slog.String("n", id), slog.String("kind", kind(n)))
		request.Add(ctx, func(e *nib.Event) { e.Int("added_bytes", added(n)) })
		if n%5 == 0 {
			go request.AddAttrs(ctx, slog.Bool("raced", true)) // may come in time or late
		}
		end(kind(n), w, r)
	}
	h := nibhttp.Middleware(nib.NewSink(l), nibhttp.Config{Policy: policy})(http.HandlerFunc(serve))

	before := heap()
	await.Goroutines(workers, func(worker int) {
		for n := worker; n < count; n += workers {
			ctx, cancel := context.WithCancel(context.Background())
			if kind(n) == kindGone {
				cancel()
			}
			kept := oneRequest(ctx, h, n)
			cancel()
			if n%20 == 0 { // a goroutine that has outlived its request
				request.AddAttrs(kept, slog.Bool("late", true))
				lateAdded.Add(1)
			}
		}
	})

	l.check(t, count, kind, tolerance)
	s := policy.Stats()
	if s.Ended != uint64(count) || s.Written+s.SampledOut != s.Ended || int64(s.Late) < lateAdded.Load() {
		t.Errorf("got %+v, want %d requests and at least %d late additions", s, count, lateAdded.Load())
	}
	if after := heap(); after > before+32<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", before, after)
	}
	t.Logf("%d requests: %+v", count, s)
}

func (l *ledger) check(t *testing.T, count int, kind func(n int) string, tolerance float64) {
	t.Helper()
	for _, f := range l.faults {
		t.Error(f)
	}
	for n, got := range l.events {
		if got > 1 || got == 0 && !isSampled(kind(n)) {
			t.Fatalf("request %d (%s): %d events, want 1", n, kind(n), got)
		}
	}
	bytes := 0
	for n := range count {
		bytes += added(n)
	}
	checkSum(t, "sample_weight", l.weights, float64(count), tolerance)
	checkSum(t, "sample_weight times added_bytes", l.bytes, float64(bytes), tolerance)
}

// added returns the value of a field of request n, which the test sums up.
func added(n int) int { return 1 + n*31%1000 }

// never is a handler that times out, and adds a field when its request has
// ended.
var never = http.TimeoutHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Value(capture{}).(*captured).ended
	request.AddAttrs(r.Context(), slog.Bool("late", true))
}), time.Nanosecond, "")

// oneRequest sends request n and returns the context that its handler got.
func oneRequest(ctx context.Context, h http.Handler, n int) (inner context.Context) {
	c := &captured{ended: make(chan struct{})}
	go func() { // which the handler may end
		defer close(c.ended)
		defer func() { _ = recover() }()
		r, err := http.NewRequestWithContext(context.WithValue(ctx, capture{}, c), "GET", "/", nil)
		if err != nil {
			panic(err)
		}
		r.Header.Set("X-Request-Id", strconv.Itoa(n))
		h.ServeHTTP(hijackable{nullWriter{http.Header{}}}, r)
	}()
	<-c.ended
	return c.ctx
}

type captured struct {
	ctx   context.Context // of the handler
	ended chan struct{}   // closed when the request has ended
}

type capture struct{} // the key of a *captured

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func checkSum(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if off := math.Abs(got-want) / want; off > tolerance {
		t.Errorf("the sum of %s is %v, want %v (off by %.2f %%)", what, got, want, 100*off)
	} else {
		t.Logf("the sum of %s is %v, truth %v (off by %.3f %%)", what, got, want, 100*off)
	}
}
