// SPDX-License-Identifier: Apache-2.0

package nibzap

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib"
	"go.uber.org/zap/zapcore"
)

var _ zapcore.Core = (*core)(nil)

// NewCore returns a zapcore.Core that writes through l. A nil l discards. The
// core is safe for concurrent use.
func NewCore(l *nib.Logger) zapcore.Core {
	c := &core{log: l.WithOptions(nib.WithCaller())} // the call site is shown if the entry has one
	c.names, c.any = newNames(c.log), c.log.Named("*")
	return c
}

// levelOf returns nib's level for one of zap. Levels below debug, which zapr
// uses, continue below nib.LevelDebug.
func levelOf(l zapcore.Level) nib.Level {
	switch {
	case l == zapcore.DPanicLevel:
		return nib.LevelError + 2
	case l > zapcore.DPanicLevel:
		return nib.LevelPanic + 4*nib.Level(l-zapcore.PanicLevel)
	}
	return 4 * nib.Level(l)
}

// A core is immutable.
type core struct {
	log   *nib.Logger // the logger without the names that zap adds
	names *names      // the loggers with these names
	any   *nib.Logger // has the lowest level of any name
}

// Enabled reports whether the level of the Logger, or its rule for any name,
// lets the zap level pass: zap calls it before Check, which knows the name.
func (c *core) Enabled(level zapcore.Level) bool { return c.any.Enabled(levelOf(level)) }

// With returns a core whose lines all have these fields, which it encodes once.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	l := bind(c.log, fields)
	return &core{log: l, names: newNames(l), any: c.any}
}

// Check adds c to ce if the level of the Logger, or its rule for the name of
// the entry, lets the entry pass.
func (c *core) Check(ent zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.names.logger(ent.LoggerName).Enabled(levelOf(ent.Level)) {
		return ce.AddCore(ent, c)
	}
	return ce
}

// Write writes one line. It returns nil: errors of the sink go to the error
// handler of the Logger. For plain values, only zap's API allocates. Above
// nib.LevelError the sink is flushed, since zap may end the process.
func (c *core) Write(ent zapcore.Entry, fields []zapcore.Field) error {
	en := nib.Entry{
		Time: ent.Time, Level: levelOf(ent.Level), Message: ent.Message, Stack: ent.Stack,
	}
	if ent.Caller.Defined && ent.Caller.PC != 0 {
		// A frame has the address of the call, nib wants the return address.
		en.PC = ent.Caller.PC + 1
	}
	l := c.names.logger(ent.LoggerName)
	if e := l.Entry(en); e != nil {
		if ent.Caller.Defined && ent.Caller.PC == 0 { // set by the program
			e.Str("function", ent.Caller.Function).
				Str("file", fmt.Sprintf("%s:%d", ent.Caller.File, ent.Caller.Line))
		}
		addFields(e, fields)
		e.Send()
	}
	if ent.Level > zapcore.ErrorLevel {
		_ = c.Sync()
	}
	return nil
}

// Sync flushes the sink, for five seconds at most.
func (c *core) Sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), finalFlush)
	defer cancel()
	return c.log.Flush(ctx)
}

// names are the loggers of a core by the name in zap's entries, made when a
// name is first seen.
type names struct {
	unnamed *nib.Logger
	mu      sync.Mutex // held while a logger is added
	byName  atomic.Pointer[map[string]*nib.Logger]
}

// maxNames limits the memory for a program that generates names.
const maxNames = 256

func newNames(l *nib.Logger) *names {
	n := &names{unnamed: l}
	n.byName.Store(new(map[string]*nib.Logger))
	return n
}

func (n *names) logger(name string) *nib.Logger {
	if name == "" {
		return n.unnamed
	}
	if l, ok := (*n.byName.Load())[name]; ok {
		return l
	}
	return n.add(name)
}

func (n *names) add(name string) *nib.Logger {
	l := n.unnamed.Named(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := *n.byName.Load(); len(old) < maxNames {
		all := make(map[string]*nib.Logger, len(old)+1)
		maps.Copy(all, old)
		all[name] = l
		n.byName.Store(&all)
	}
	return l
}
