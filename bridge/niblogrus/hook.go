// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

var _ logrus.Hook = (*Hook)(nil)

// A Hook forwards the entries of a logrus.Logger to a nib.Logger, in addition
// to the output of logrus: to a second place, or for some levels. [Install]
// replaces the output of logrus.
//
// logrus filters by level: an entry that reaches the hook is written, whatever
// the level of the nib.Logger. The other options of that Logger apply (layout,
// bound fields, hooks, sampler, context fields). The call site is the entry's,
// if logrus reports it. Fields with a key that nib reserves are written under
// "field." and the key.
//
// A Hook must not be changed or copied once it has been added. It is safe for
// concurrent use.
type Hook struct {
	Logger    *nib.Logger    // if nil, entries are discarded
	LogLevels []logrus.Level // if nil, all levels

	once sync.Once
	log  *nib.Logger
}

// Levels returns the levels of the entries that the hook receives.
func (h *Hook) Levels() []logrus.Level {
	if h.LogLevels == nil {
		return logrus.AllLevels
	}
	return h.LogLevels
}

// Fire writes one line with the level, time, message, context and fields of the
// entry, fields in the order of their keys. It does not end the process and
// does not panic; logrus does, after all hooks. Before it does, at the levels
// panic and fatal, the nib.Logger is flushed, for five seconds at most.
//
// Fire returns nil: errors of the sink go to the error handler of the
// nib.Logger, and an error returned here would hide the entry from later hooks.
// Nothing of the entry is kept. 0 allocs when the fields are plain values.
func (h *Hook) Fire(entry *logrus.Entry) error {
	if entry == nil || h.Logger == nil {
		return nil
	}
	// The call site is shown if the entry has one.
	h.once.Do(func() { h.log = h.Logger.WithOptions(nib.WithCaller()) })
	h.write(entry)
	if entry.Level <= logrus.FatalLevel {
		h.flush()
	}
	return nil
}

func (h *Hook) write(entry *logrus.Entry) {
	en := nib.Entry{Time: entry.Time, Level: levelOf(entry.Level), Message: entry.Message}
	caller := entry.Caller
	if caller != nil && caller.PC != 0 {
		en.PC = caller.PC + 1 // a frame has the address of the call, Callers has the return address
	}
	e := h.log.Entry(en)
	if e == nil {
		return
	}
	if caller != nil && caller.PC == 0 { // not from the stack, but set by the program
		e.Str(logrus.FieldKeyFunc, caller.Function).
			Str(logrus.FieldKeyFile, fmt.Sprintf("%s:%d", caller.File, caller.Line))
	}
	e.Ctx(entry.Context)
	addSorted(e, entry.Data, func(e *nib.Event, key string, value any) {
		if err, ok := value.(error); ok && key == logrus.ErrorKey {
			e.Err(err)
		} else {
			add(e, key, value)
		}
	})
	if s := fault(entry); s != "" {
		e.Str(logrus.FieldKeyLogrusError, s)
	}
	e.Send()
}

// finalFlush is the time for which nib's own Panic and Fatal wait.
const finalFlush = 5 * time.Second

func (h *Hook) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), finalFlush)
	defer cancel()
	if err := h.log.Flush(ctx); err != nil {
		text := fmt.Sprintf("nib/logrus: flush before the end: %v\n", err)
		// Not through package fmt: standard error may be stopped or gone.
		_ = nib.WriterSink(os.Stderr).
			WriteRecord(&nib.Record{Level: nib.LevelError, Line: []byte(text)})
	}
}
