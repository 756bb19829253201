// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/sink"
)

// A Request is a request in progress, and the context of the code that handles
// it. It has the logger, the ids and the fields of the event. Front ends for
// servers make one for each request:
//
//	var r request.Request
//	r.Start(ctx, policy, log, id, traceparent)
//	err := handle(&r) // a context.Context
//	if e := r.End(request.Outcome{Took: time.Since(start), Failed: err != nil}); e != nil {
//		e.Err(err)
//		r.AddIDs(e)
//		r.AddFields(e)
//		e.Msg("request")
//	}
//
// Jobs are simpler with [Policy.Run]. The zero Request is ready for Start,
// which is called once, before all other methods. A Request must not be copied
// or used again: goroutines that outlive it may hold it. End and AddFields are
// for one goroutine; the other methods are safe for concurrent use.
type Request struct {
	context.Context // the context that the request began with

	policy *Policy
	base   *nib.Logger
	ids    ids
	log    atomic.Pointer[nib.Logger] // nil until it is first used

	mu      sync.Mutex // protects the fields below
	over    bool       // End was called: only End and AddFields use the fields below
	keep    bool
	dropped int         // additions beyond MaxBytes
	fields  *fields     // nil if there are none
	scope   *sink.Scope // nil until the logger is first used, and after the end

	weight int // weight of the event, set by End; 0 if it has no such field
}

// fields are encoded as nib.Logger.AppendFields does.
type fields struct {
	buf       []byte
	errorKeys bool // keys of errors are among theirs
}

var fieldsPool = sync.Pool{New: func() any { return &fields{buf: make([]byte, 0, 512)} }}

// keepSize is the size above which a buffer is not kept for other requests.
const keepSize = 64 << 10

func (f *fields) free() {
	if f != nil && cap(f.buf) <= keepSize {
		f.buf = f.buf[:0]
		fieldsPool.Put(f)
	}
}

// key is the context key of the *Request itself.
type key struct{}

func from(ctx context.Context) *Request {
	if ctx == nil {
		return nil
	}
	if r, ok := ctx.(*Request); ok { // as handlers and jobs have it: without a search
		return r
	}
	r, _ := ctx.Value(key{}).(*Request)
	return r
}

// Start begins a request. ctx is the context that it arrived with; it may be
// nil, as may p and l. id is the request id of the client, and traceparent its
// header of W3C Trace Context. If one is missing or invalid, the request takes
// it from [WithIDs] or from the request that ctx belongs to, like a job that
// another request starts, or a new request id.
func (r *Request) Start(ctx context.Context, p *Policy, l *nib.Logger, id, traceparent string) {
	if ctx == nil {
		ctx = context.Background()
	}
	if p == nil {
		p = everything
	}
	r.Context, r.policy, r.base = ctx, p, l
	r.ids.set(ctx, id, traceparent)
}

// Value implements context.Context. Its values include the logger of the
// request, which is made at its first use.
func (r *Request) Value(k any) any {
	switch k {
	case contract.LoggerKey{}:
		return r.logger()
	case key{}:
		return r
	case idsKey{}:
		return &r.ids
	}
	return r.Context.Value(k)
}

// logger returns the logger of the request. Concurrent calls return the same
// one.
func (r *Request) logger() *nib.Logger {
	if l := r.log.Load(); l != nil {
		return l
	}
	l := r.base
	var scope *sink.Scope
	if b := r.policy.config.Backtrace; b != nil && l.Sink() != nil {
		scope = b.Scope()
		l = l.WithOptions(nib.WithSink(scope), nib.WithLevel(r.policy.config.backtraceLevel()))
	}
	l = l.With(r.AddIDs)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch first := r.log.Load(); {
	case first != nil:
		l = first
	case r.over: // called by a goroutine that outlives the request
		r.log.Store(l)
	default:
		r.log.Store(l)
		r.scope, scope = scope, nil
	}
	if scope != nil {
		scope.Discard()
	}
	return l
}

func (r *Request) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// An Outcome describes how a request ended.
type Outcome struct {
	Level  nib.Level // level of the event
	Took   time.Duration
	Route  string // pattern of an HTTP request, method of an RPC, name of a job; "" if unknown
	Code   int    // status of HTTP or code of gRPC
	Failed bool   // the event is written whatever Sample is, and so are the lines held back
	Skip   bool   // no event is written

	Slow, Marked bool // set for Config.Decide: it took Config.Slow or longer; Keep was called
}

// End ends the request: fields that are added later are dropped and counted. It
// writes or drops the lines that are held back, and starts the event, to be
// completed and finished by the caller. It returns nil if there is no event,
// and from the second call on.
func (r *Request) End(o Outcome) *nib.Event {
	p := r.policy
	slow := p.config.Slow > 0 && o.Took >= p.config.Slow
	if (o.Failed || slow) && p.config.OnFailure != nil && !r.isOver() {
		p.onFailure(r)
	}
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return nil
	}
	scope := r.scope
	r.over, r.scope = true, nil
	r.mu.Unlock()

	p.count(o.Failed, slow, r.keep)
	kept, oneIn := o.Failed || slow || r.keep, max(p.config.Sample, 1)
	if p.config.Decide != nil && !o.Skip {
		o.Slow, o.Marked = slow, r.keep
		kept, oneIn = p.decide(o)
	}
	endScope(scope, kept)
	if kept {
		oneIn = 1
	}
	e := r.event(o, oneIn)
	if e == nil {
		r.fields.free()
		r.fields = nil
	}
	return e
}

// event starts the event, if there is one: of one in oneIn requests.
func (r *Request) event(o Outcome, oneIn int) *nib.Event {
	p := r.policy
	if o.Skip {
		p.suppressed.Add(1)
		return nil
	}
	if oneIn < 1 || oneIn > 1 && !p.sample(uint64(oneIn)) {
		p.sampledOut.Add(1)
		return nil
	}
	var e *nib.Event
	if r.base.Enabled(o.Level) {
		e = r.base.AtDepth(o.Level, beyond)
	}
	if e == nil {
		p.suppressed.Add(1)
		return nil
	}
	p.written.Add(1)
	if p.config.Sample > 1 || p.config.Decide != nil {
		r.weight = oneIn
	}
	return e
}

// beyond is a depth above every stack, for which no stack is read: an event has
// no call site, which would be in this package.
const beyond = 1 << 30

func (p *Policy) count(failed, slow, marked bool) {
	if failed {
		p.failed.Add(1)
	}
	if slow {
		p.slow.Add(1)
	}
	if marked {
		p.marked.Add(1)
	}
}

// endScope writes or drops the lines that are held back.
func endScope(s *sink.Scope, write bool) {
	if s == nil {
		return
	}
	if write {
		_ = s.Dump() // the scope has counted the lost lines
	} else {
		s.Discard()
	}
}

// AddFields adds the collected fields to the event that End has returned, and
// sample_weight if there is a Sample. If additions were dropped because of
// MaxBytes, additions_dropped is their number.
func (r *Request) AddFields(e *nib.Event) {
	if e == nil {
		return
	}
	if f := r.fields; f != nil {
		if !contract.AddFields(e, r.base, f.buf, f.errorKeys) {
			for name, value := range jsonread.Fields(f.buf) {
				addField(e, name, value)
			}
		}
		r.fields = nil
		f.free()
	}
	if r.dropped > 0 {
		e.Int("additions_dropped", r.dropped)
	}
	if r.weight > 0 {
		e.Int("sample_weight", r.weight)
	}
}

// addField adds an encoded field.
func addField(e *nib.Event, name, value []byte) {
	for _, c := range name {
		if c == '\\' {
			name, _ = jsonread.AppendUnquoted(nil, append(append([]byte{'"'}, name...), '"'))
			break
		}
	}
	e.RawJSON(string(name), value)
}
