// SPDX-License-Identifier: Apache-2.0

package nibslog

import (
	"context"
	"log"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/usercode"
)

// SetDefault makes l the logger of the top-level functions of slog and log, and
// sets log's flags to 0; its prefix stays part of the messages. It may be
// called more than once.
//
// Lines of log.Print and its variants have nib.LevelInfo. Lines of log.Fatal,
// log.Panic and their variants have nib.LevelFatal or nib.LevelPanic and are
// written whatever the level of l; the sink is flushed before log ends the
// process. (With slog.SetDefault alone, a raised level drops that line, and the
// process ends without any output.) Sinks, hooks and methods of values may
// themselves use log, slog and l; see [nib.Logger.StdLog].
func SetDefault(l *nib.Logger) {
	slog.SetDefault(slog.New(NewHandler(l)))
	log.SetOutput(l.StdLog(nib.LevelInfo).Writer())
	log.SetFlags(0)
}

// After slog.SetDefault, a writer of slog passes log's lines to Handle, with
// log's lock held. They are written as by the handler of SetDefault; otherwise
// a sink that uses log would deadlock. A Record does not show its origin, but
// each call site always has the same one.
var viaLog callsite.Table[bool]

// fromLog reports whether a record was made by package log.
func fromLog(r *slog.Record) bool {
	if r.PC == 0 {
		return logWriterOnStack()
	}
	via := viaLog.Get(r.PC)
	if via == nil {
		via = viaLog.Put(r.PC, logWriterOnStack())
	}
	return *via
}

// logWriterOnStack reports whether slog's writer is among the callers. A
// slog.Logger in between belongs to a handler that itself logs while it handles
// the line of package log.
func logWriterOnStack() bool {
	var pcs [32]uintptr
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		t := receivers.Get(pc)
		if t == nil {
			t = receivers.Put(pc, receiverOf(pc))
		}
		if *t != "" {
			return *t == logWriter
		}
	}
	return false
}

// receivers has the type of slog whose method a frame belongs to, by return
// address: logWriter, slogLogger, or "" for all others. To look for a name
// takes longer than to write a line.
var receivers callsite.Table[string]

const logWriter, slogLogger = "log/slog.(*handlerWriter)", "log/slog.(*Logger)"

func receiverOf(pc uintptr) string {
	if f := runtime.FuncForPC(pc - 1); f != nil {
		for _, t := range []string{logWriter, slogLogger} {
			if strings.HasPrefix(f.Name(), t) {
				return t
			}
		}
	}
	return ""
}

// maxWait is how long package log, which holds its lock, waits for user code
// that may need the lock.
const maxWait = 100 * time.Millisecond

// mayRunCode reports whether the value of an attribute has methods, which may
// use package log.
func mayRunCode(a slog.Attr) bool {
	switch a.Value.Kind() {
	case slog.KindAny, slog.KindLogValuer:
		return true
	case slog.KindGroup:
		return slices.ContainsFunc(a.Value.Group(), mayRunCode)
	}
	return false
}

// handleLog writes a line that package log has made. Its attributes, if any,
// are those that a handler in between has added.
func (h *Handler) handleLog(r *slog.Record) {
	if h.replace == nil {
		var attrs []slog.Attr
		r.Attrs(func(a slog.Attr) bool {
			attrs = append(attrs, a)
			return true
		})
		level, message := nib.Level(r.Level), r.Message
		write := func(l *nib.Logger) { _, _ = l.StdLog(level).Writer().Write([]byte(message)) }
		if !slices.ContainsFunc(attrs, mayRunCode) {
			write(h.log.WithAttrs(attrs...))
		} else if !usercode.Run(func() { write(h.log.WithAttrs(attrs...)) }, maxWait) {
			write(h.log)
		}
		return
	}
	// Not only the sink: ReplaceAttr may print, too.
	rec := *r // a copy in this function lets other records stay on the stack
	if !usercode.Run(func() { h.replace.event(context.Background(), h.log, &rec).Send() },
		maxWait) {
		h.replace.tooDeep.Add(1)
	}
}
