// SPDX-License-Identifier: Apache-2.0

package nibgrpc

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Config configures the interceptors. The zero Config is ready.
type Config struct {
	// Policy decides which RPCs have an event. If it is nil, all have one.
	Policy *request.Policy
	// Level returns the level of the event for the code of the status. Defaults to
	// LevelOf. An event of a panic has at least LevelError.
	Level func(code codes.Code) nib.Level
	// Skip omits the events of methods for which it returns true, such as
	// /grpc.health.v1.Health/Check, unless their handler panics.
	Skip func(method string) bool
	// OwnRequestIDs generates every request id and ignores the client's.
	OwnRequestIDs bool
}

// LevelOf returns the default level of an event: LevelInfo for OK, LevelError
// for the codes by which a server reports that it failed, and otherwise
// LevelWarn.
func LevelOf(code codes.Code) nib.Level {
	switch code {
	case codes.OK:
		return nib.LevelInfo
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal,
		codes.Unavailable, codes.DataLoss:
		return nib.LevelError
	}
	return nib.LevelWarn
}

// maxText is the maximum number of bytes that are written of a text that a
// client may have sent.
const maxText = 4 << 10

// A call is an RPC in progress. It is not pooled: goroutines may outlive it.
type call struct {
	request.Request
	config *Config
	method string
	client bool
	stream bool
	start  time.Time

	received, sent atomic.Int64
	open           bool        // the stream of a client has begun, and finish ends the call
	ended          atomic.Bool // finish or end was called, and may use the fields below
	returned       bool
	panicked       bool
	panicText      string // text of a panic in the handler or in a function of Config
}

// finish ends the call with the error of the RPC, unless it has ended.
func (x *call) finish(err error) {
	if !x.ended.Swap(true) {
		x.returned = true
		x.write(err)
	}
}

// end is deferred and ends the call: err is the error of the handler or, of a
// client, of the RPC.
func (x *call) end(err *error) {
	if x.open || x.ended.Swap(true) {
		return
	}
	if x.returned {
		x.write(*err)
		return
	}
	p := recover()
	if p == nil {
		x.write(nil)
		return
	}
	defer func() { panic(p) }()
	defer x.write(nil) // runs even if the text of the panic ends the goroutine
	x.panicked, x.panicText = true, fmt.Sprintf("%T", p)
	x.panicText = panicText(p)
}

// panicText returns the text of a panic's value, whose methods may panic.
// Values without a method for their text are shown by their type: package fmt
// would follow a value that contains itself until the stack is full.
func panicText(p any) (text string) {
	text = fmt.Sprintf("%T", p)
	defer func() { _ = recover() }()
	switch p := p.(type) {
	case error:
		text = p.Error()
	case fmt.Stringer:
		text = p.String()
	default:
		if k := reflect.TypeOf(p).Kind(); k <= reflect.Complex128 || k == reflect.String {
			text = fmt.Sprint(p)
		}
	}
	return text
}

// code returns the code of the status into which gRPC converts err.
func code(err error) (c codes.Code) {
	defer func() {
		if recover() != nil {
			c = codes.Unknown
		}
	}()
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	return s.Code()
}

// write ends the call and writes its event, if it has one, even if a function
// of the program ends the goroutine.
func (x *call) write(err error) {
	c := codes.Unknown
	o := request.Outcome{Took: time.Since(x.start), Level: LevelOf(c), Failed: true}
	defer func() { x.writeEvent(o, c, err) }()
	if c = code(err); !x.returned {
		c = codes.Internal
	}
	o.Level = LevelOf(c)
	o.Failed = o.Level >= nib.LevelError
	if text := guard(func() {
		if x.config.Level != nil {
			o.Level = x.config.Level(c)
		}
		o.Skip = x.config.Skip != nil && !x.panicked && x.config.Skip(x.method)
	}); x.panicText == "" {
		x.panicText = text
	}
}

func (x *call) writeEvent(o request.Outcome, c codes.Code, err error) {
	if x.panicked {
		o.Level = max(o.Level, nib.LevelError)
	}
	o.Route, o.Code = x.method, int(c)
	e := x.End(o)
	if e == nil {
		return
	}
	e.Str("rpc", cut(strings.TrimPrefix(x.method, "/"))).Str("code", c.String()).Dur("took", o.Took)
	if x.stream {
		e.Int64("received", x.received.Load()).Int64("sent", x.sent.Load())
	}
	if p, ok := peer.FromContext(x.Context); ok && p.Addr != nil && !x.client {
		e.Stringer("peer", p.Addr)
	}
	x.AddIDs(e)
	if x.Context.Err() == context.Canceled {
		e.Bool("canceled", true)
	}
	if !x.returned {
		e.Bool("aborted", true)
	}
	if x.panicText != "" {
		e.Str("panic", cut(x.panicText))
	}
	if err != nil {
		e.Func(func(e *nib.Event) { addError(e, c, err) }) // the text of err may end the goroutine
	}
	x.AddFields(e)
	if x.panicked {
		e.Stack()
	}
	if x.client {
		e.Msg("client rpc")
		return
	}
	e.Msg("rpc")
}

// addError adds the error in the format of the layout. It cuts long texts, and
// omits the code from the text of a status, because an earlier field has it.
func addError(e *nib.Event, c codes.Code, err error) {
	text := ""
	if guard(func() { text = err.Error() }) == "" {
		desc, ok := strings.CutPrefix(text, "rpc error: code = "+c.String()+" desc = ")
		if ok && desc != "" || len(text) > maxText {
			err = errors.New(cut(desc))
		}
	}
	e.Err(err)
}

// cut shortens a text between characters.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// guard runs a function of the program: an RPC must not fail because its log
// does. It returns the text of a panic.
func guard(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = "!PANIC: " + panicText(p)
		}
	}()
	f()
	return ""
}
