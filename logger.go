// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"io"
	"log/slog"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/plan"
)

// A Logger starts events and writes their lines to one sink. It is immutable
// and safe for concurrent use; With, Named and similar methods return new
// Loggers that share the sink. A nil *Logger and the zero Logger discard their
// lines; their Panic and Fatal still act.
type Logger struct {
	min     Level        // the level, or minLevel when leveler decides
	leveler slog.Leveler // nil for a constant level

	core         *core
	id           uint64 // unique; see front
	reservedBits uint64 // Event.reservedBits at the start: the reserved keys, or none in a group
	direct       bool   // min alone decides: there is neither a leveler nor a sampler
	plain        bool   // no hooks, open groups, stacks or edits: most lines have only to be closed

	name       string
	nameField  string // `,"logger":"name"`
	bound      string // encoded fields, each with its comma in front
	groups     groups // groups of WithGroup
	boundFlags flags  // hasError and hasErrorKey of the bound fields
}

// minLevel lets every level through to the leveler.
const minLevel = Level(math.MinInt)

// A core is shared by the loggers derived from one New. It does not change once
// New has returned: WithOptions copies it.
type core struct {
	format *format
	out    output

	now           func() time.Time // if nil, the built-in clock
	rules         *Rules           // if nil, the logger's own level
	caller        bool             // set by WithCaller
	edits         edits            // set by WithRedact, WithMaxLine and WithDuplicateKeys
	sizeLimit     int              // no container or element begins beyond so many bytes of a line
	splitFront    bool             // call site or message precede the bound fields: see addRest
	stackFrom     Level            // set by WithStack; by default above all levels
	hooks         []Hook
	sampler       Sampler
	guardsSampler bool // the sampler is code of the program
	contextFields func(context.Context, *Event)
	onError       func(error)
	exit          func(int)

	state *state // shared by copies
}

// An Option changes how a Logger works. Options are applied in order, so of two
// that set the same thing the later one wins; hooks accumulate. The zero Option
// changes nothing.
type Option struct{ apply func(*Logger) }

// New makes a Logger that writes lines to w: one Write per line, under one lock
// shared by all loggers derived from this one, done when the call returns. A
// short write is continued; a line that could not be written whole is ended
// before the next one begins. A w that is also a [Sink] is used as a Sink, and
// io.Discard is called without the lock. New panics if w is nil.
//
// If the reader of os.Stdout or os.Stderr goes away, the program does not end.
// If the reader stops, on Linux a call waits 100 ms, or 200 ms while other
// calls wait too, and then drops its line. Stats counts the line as Failed.
func New(w io.Writer, opts ...Option) *Logger {
	if w == nil {
		panic("nib: New with a nil io.Writer")
	}
	if w == io.Discard {
		return newLogger(output{discard: w}, opts)
	}
	return NewSink(WriterSink(w), opts...)
}

// NewSink returns a Logger that writes its lines to s. The goroutines that log
// call s, many at a time. NewSink panics if s is nil.
func NewSink(s Sink, opts ...Option) *Logger {
	if s == nil {
		panic("nib: NewSink with a nil Sink")
	}
	return newLogger(sinkOutput(s), opts)
}

func newLogger(out output, opts []Option) *Logger {
	prepareIdle() // events of the pool belong to idleLogger
	c := &core{format: out.format(), out: out, stackFrom: math.MaxInt, state: new(state)}
	return (&Logger{core: c}).apply(opts)
}

// apply changes l in place; l and its core are not shared yet.
func (l *Logger) apply(opts []Option) *Logger {
	for _, o := range opts {
		if o.apply != nil {
			o.apply(l)
		}
	}
	c := l.core
	c.sizeLimit = plan.MaxSize
	if c.edits.max > 0 {
		c.sizeLimit = c.edits.max + beyondMaxLine
	}
	c.splitFront = c.caller || c.format.MessageFirst
	c.edits.skipsFront = c.edits.any() && c.edits.leavesFront(c.format)
	l.guardLeveler()
	return l.seal()
}

var loggerIDs atomic.Uint64

// seal sets the fields of a new logger that depend on all others.
func (l *Logger) seal() *Logger {
	l.id = loggerIDs.Add(1)
	if r := l.core.rules; r != nil {
		l.min, l.leveler = minLevel, r.table.Of(l.name, l.leveler)
	}
	l.direct = l.leveler == nil && l.core.sampler == nil
	l.plain = len(l.core.hooks) == 0 && !l.groups.any() && l.core.stackFrom == math.MaxInt &&
		!l.core.edits.any()
	l.reservedBits = noneReserved
	if !l.groups.any() {
		l.reservedBits = l.core.format.reservedBits
	}
	return l
}

// WithOptions returns a Logger with the same sink, name and bound fields and
// with opts applied. The original is unchanged.
func (l *Logger) WithOptions(opts ...Option) *Logger {
	if l.discards() {
		return l
	}
	c, n := *l.core, *l
	n.core = &c
	return n.apply(opts)
}

// Trace starts an event at LevelTrace. It returns nil when the level is off;
// every method of a nil Event does nothing, so the rest of the chain costs a
// few nil checks. Finish the event with Msg, Msgf, MsgFunc or Send. 0 allocs.
func (l *Logger) Trace() *Event {
	if l.belowMin(LevelTrace) {
		return nil
	}
	return l.begin(LevelTrace, nil)
}

// Debug starts an event at LevelDebug; it returns nil if the level is disabled.
func (l *Logger) Debug() *Event {
	if l.belowMin(LevelDebug) {
		return nil
	}
	return l.begin(LevelDebug, nil)
}

// Info starts an event at LevelInfo; it returns nil if the level is disabled.
func (l *Logger) Info() *Event {
	if l.belowMin(LevelInfo) {
		return nil
	}
	return l.begin(LevelInfo, nil)
}

// Warn starts an event at LevelWarn; it returns nil if the level is disabled.
func (l *Logger) Warn() *Event {
	if l.belowMin(LevelWarn) {
		return nil
	}
	return l.begin(LevelWarn, nil)
}

// Error starts an event at LevelError; it returns nil if the level is disabled.
func (l *Logger) Error() *Event {
	if l.belowMin(LevelError) {
		return nil
	}
	return l.begin(LevelError, nil)
}

// At starts an event at any level. It never exits or panics, whatever the
// level.
func (l *Logger) At(level Level) *Event {
	if l.belowMin(level) {
		return nil
	}
	return l.begin(level, nil)
}

// Panic starts an event that panics with its message once the line is written
// and the sink flushed. It is never nil, even on a nil Logger: level, sampler
// and Discard suppress the line, never the panic.
func (l *Logger) Panic() *Event { return l.begin(LevelPanic, &beginOptions{flags: thenPanic}) }

// Fatal starts an event that ends the process with status 1 (see WithExit) once
// the line is written and the sink flushed, or five seconds have passed. It is
// never nil, even on a nil Logger: level, sampler and Discard suppress the
// line, never the exit.
func (l *Logger) Fatal() *Event { return l.begin(LevelFatal, &beginOptions{flags: thenExit}) }

// Log starts an event without a level: its line has no level key, its Record
// has LevelInfo, and no level switches it off.
func (l *Logger) Log() *Event { return l.begin(LevelInfo, &beginOptions{flags: noLevelKey}) }

// With returns a Logger whose lines all have the fields that f adds. f runs at
// once; it only adds fields and must not keep e. The fields are encoded once
// and belong to the new Logger alone. 2 allocs: the Logger and its bytes.
func (l *Logger) With(f func(e *Event)) *Logger {
	if l.discards() || f == nil {
		return l
	}
	return l.bind(f)
}

// WithAttrs returns a Logger whose lines all have attrs, as With does.
func (l *Logger) WithAttrs(attrs ...slog.Attr) *Logger {
	if l.discards() || len(attrs) == 0 {
		return l
	}
	return l.bind(func(e *Event) { e.attrs(attrs) })
}

// bind appends the fields that f adds to the bound ones. A group that was
// waiting for its first field is opened by it.
func (l *Logger) bind(f func(*Event)) *Logger {
	e := l.builder()
	e.buf = append(append(e.buf, l.bound...), l.groups.pending...)
	body := len(e.buf)
	e.run(f)
	if len(e.buf) == body {
		e.release()
		return l
	}
	n := *l
	n.groups = l.groups.bound(e.buf[body:])
	n.bound = string(e.buf)
	n.boundFlags |= e.flags & (hasError | hasErrorKey)
	e.release()
	return n.seal()
}

// AppendFields appends the fields that f adds to dst, each as `,"key":value`,
// as in a line of l. It is for fields that are collected before their line
// begins. f runs at once and only adds fields. 0 allocs while dst has room.
func (l *Logger) AppendFields(dst []byte, f func(e *Event)) []byte {
	if l.discards() || f == nil {
		return dst
	}
	e := acquire(l)
	line := e.buf // has the front of the next line
	e.buf, e.scratch, e.flags = e.scratch[:0], nil, building
	e.run(f)
	dst = append(dst, e.buf...)
	e.keepScratch(e.buf)
	e.buf = line
	e.release()
	return dst
}

func init() {
	contract.LayoutOf = func(logger any) any { return &logger.(*Logger).core.format.Layout }
	contract.HasErrorKeys = func(event any) bool {
		return event.(*Event).flags&(hasError|hasErrorKey) != 0
	}
	contract.AddFields = func(event, logger any, fields []byte, errorKeys bool) bool {
		return addFields(event.(*Event), logger.(*Logger), fields, errorKeys)
	}
}

// addFields implements contract.AddFields: AppendFields has renamed the fields
// with reserved keys.
func addFields(e *Event, l *Logger, fields []byte, errorKeys bool) bool {
	if e.depth != 0 || e.flags&(inPlace|building) != 0 || errorKeys && e.hasError() ||
		e.log.core.format != l.core.format || e.reservedBits != l.reservedBits {
		return false
	}
	if errorKeys {
		e.flags |= hasErrorKey
	}
	e.buf = append(e.buf, fields...)
	return true
}

// WithGroup returns a Logger that puts all further fields, bound or not, into
// an object under name, inside the groups that are open already. A group
// without fields is not written. An empty name changes nothing.
func (l *Logger) WithGroup(name string) *Logger {
	if l.discards() || name == "" {
		return l
	}
	n := *l
	n.groups.add(&n, name)
	return n.seal()
}

// Named returns a Logger whose name is the name of l, a dot, and name. Every
// line contains the name. An empty name changes nothing.
func (l *Logger) Named(name string) *Logger {
	if l.discards() || name == "" {
		return l
	}
	n := *l
	if n.name != "" {
		name = n.name + "." + name
	}
	n.name, n.nameField = name, l.core.format.encodeName(name)
	return n.seal()
}

// Flush waits until a sink that holds lines back has written all those accepted
// so far, and returns its error. It returns when ctx is done, even if the sink
// hangs. A Logger does not close its sink; the code that opened the sink does.
func (l *Logger) Flush(ctx context.Context) error {
	if l.discards() {
		return nil
	}
	return l.core.out.flush(ctx)
}

// Sink returns the sink that l writes to, so that another one such as
// sink.Backtrace can wrap it. It is nil if l discards its lines.
func (l *Logger) Sink() Sink {
	if l.discards() {
		return nil
	}
	return l.core.out.sink
}

// defaultLogger is nil until SetDefault is called.
var (
	defaultLogger  atomic.Pointer[Logger]
	standardLogger = sync.OnceValue(func() *Logger { return New(os.Stderr) })
)

// init sets prepareIdle, which report.go declares: functions there do not call
// functions of this file.
func init() {
	prepareIdle = sync.OnceFunc(func() {
		idleLogger.core.format = defaultFormat.get(DurationMillis)
		idleLogger.apply(nil)
	})
}

// Default returns the logger of the package-level functions: JSON lines to
// standard error at LevelInfo, until SetDefault replaces it.
func Default() *Logger {
	if l := defaultLogger.Load(); l != nil {
		return l
	}
	return standardLogger()
}

// SetDefault replaces the default logger; nil discards. It may be called at any
// time and affects calls that begin later.
func SetDefault(l *Logger) {
	if l == nil {
		l = new(Logger)
	}
	defaultLogger.Store(l)
}

// Trace starts an event of the default logger; see [Logger.Trace].
func Trace() *Event { return Default().At(LevelTrace) }

// Debug starts an event of the default logger at LevelDebug.
func Debug() *Event { return Default().At(LevelDebug) }

// Info starts an event of the default logger at LevelInfo; see [Logger.Info].
func Info() *Event { return Default().At(LevelInfo) }

// Warn starts an event of the default logger at LevelWarn; see [Logger.Warn].
func Warn() *Event { return Default().At(LevelWarn) }

// Error starts an event of the default logger at LevelError.
func Error() *Event { return Default().At(LevelError) }

// Panic starts an event that panics with its message; see [Logger.Panic].
func Panic() *Event { return Default().begin(LevelPanic, &beginOptions{flags: thenPanic}) }

// Fatal starts an event that ends the process; see [Logger.Fatal].
func Fatal() *Event { return Default().begin(LevelFatal, &beginOptions{flags: thenExit}) }

// NewContext returns a context that carries l.
func NewContext(ctx context.Context, l *Logger) context.Context {
	return context.WithValue(ctx, contract.LoggerKey{}, l)
}

// FromContext returns the logger that ctx carries, or Default() if it carries
// none or its Value method panics.
func FromContext(ctx context.Context) (l *Logger) {
	if ctx == nil {
		return Default()
	}
	found := false
	defer func() {
		if !found {
			_ = recover() // the line is written even if ctx is broken
			l = Default()
		}
	}()
	l, found = ctx.Value(contract.LoggerKey{}).(*Logger)
	return l
}
