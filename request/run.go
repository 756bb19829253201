// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
)

// A run is a job in progress.
type run struct {
	Request
	job      string
	start    time.Time
	returned bool
	err      error
}

// Run runs a job, with a context that belongs to it, and writes its event to l
// when f returns, panics or ends its goroutine. The event has the message "job"
// and these fields:
//
//	job         the name
//	took        from the start of f to its end
//	request_id  of WithIDs or the request that ctx belongs to, or made up
//	trace_id, span_id  likewise, if there are any
//	canceled    true when ctx was cancelled before f had ended
//	aborted     true when f panicked or ended its goroutine
//	panic       text of the panic value of f, with the stack after it
//	error       returned by f
//
// The job has failed, and its event LevelError, unless f returned nil. The
// panic continues. Run returns the error of f.
func (p *Policy) Run(
	ctx context.Context, l *nib.Logger, job string, f func(ctx context.Context) error,
) error {
	x := &run{job: job, start: time.Now()}
	x.Start(ctx, p, l, "", "")
	defer x.end()
	x.err = f(&x.Request)
	x.returned = true
	return x.err
}

// end ends the job and writes its event; Run defers it.
func (x *run) end() {
	took := time.Since(x.start)
	if x.returned {
		x.write(took, "")
		return
	}
	panicked := recover()
	if panicked == nil {
		x.write(took, "")
		return
	}
	text := ""
	defer func() { // runs even if the text of the panic ends the goroutine
		x.write(took, text)
		panic(panicked)
	}()
	usercode.TakePanicText(&text, panicked)
}

func (x *run) write(took time.Duration, panicked string) {
	o := Outcome{Took: took, Route: x.job, Failed: !x.returned || x.err != nil}
	if o.Failed {
		o.Level = nib.LevelError
	}
	e := x.End(o)
	if e == nil {
		return
	}
	e.Str("job", x.job).Dur("took", took)
	x.AddIDs(e)
	if errors.Is(x.Context.Err(), context.Canceled) {
		e.Bool("canceled", true)
	}
	if !x.returned {
		e.Bool("aborted", true)
	}
	if panicked != "" {
		e.Str("panic", panicked)
	}
	if x.err != nil {
		e.Err(x.err)
	}
	x.AddFields(e)
	if panicked != "" {
		e.Stack()
	}
	e.Msg("job")
}
