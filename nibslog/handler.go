// SPDX-License-Identifier: Apache-2.0

package nibslog

import (
	"context"
	"io"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

var _ slog.Handler = (*Handler)(nil)

// A Handler is a [slog.Handler] that writes through a [nib.Logger]. It is
// immutable and safe for concurrent use.
type Handler struct {
	log     *nib.Logger
	replace *replacer // set by NewJSONHandler with ReplaceAttr, otherwise nil
}

// NewJSONHandler replaces [slog.NewJSONHandler] and takes the same options; nil
// means none. Lines go to w as [nib.New] describes: one Write per line, under
// one lock. The package comment lists the differences. With ReplaceAttr each
// line takes several times as long, and allocates. NewJSONHandler panics if w
// is nil.
func NewJSONHandler(w io.Writer, opts *slog.HandlerOptions) *Handler {
	if opts == nil {
		opts = new(slog.HandlerOptions)
	}
	var with []nib.Option
	if opts.Level != nil {
		with = append(with, nib.WithLevel(opts.Level))
	}
	if opts.ReplaceAttr != nil {
		with = append(with, nib.WithLayout(bare()))
		return &Handler{log: nib.New(w, with...), replace: newReplacer(opts)}
	}
	l := layout.Slog()
	// slog has neither names nor stacks, so attributes may use their keys.
	l.LoggerKey, l.StackKey = nib.OmitKey, nib.OmitKey
	if opts.AddSource {
		with = append(with, nib.WithCaller())
	} else {
		l.CallerKey = nib.OmitKey
	}
	return &Handler{log: nib.New(w, append(with, nib.WithLayout(l))...)}
}

// NewHandler makes a Handler that writes through l, with its layout, level,
// sampler, call site and context fields. A nil l discards.
func NewHandler(l *nib.Logger) *Handler { return &Handler{log: l} }

// Enabled reports whether the logger's level lets a record of this level pass.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return h.log.Enabled(nib.Level(level))
}

// Handle writes one line, with the fields of ctx: see [nib.Event.Ctx]. It does
// not check the level again: the caller has done so with Enabled. It returns
// nil: an error of the sink goes to the logger's error handler. 0 allocs when
// the attributes hold plain values and there is no ReplaceAttr.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case fromLog(&r):
		h.handleLog(&r)
	case h.replace != nil:
		h.replace.event(ctx, h.log, &r).Send()
	default:
		h.handle(ctx, &r)
	}
	return nil
}

// Stats returns the counts of lines that could not be written, of all handlers
// that share the logger. It may be called at any time.
func (h *Handler) Stats() nib.Stats {
	s := h.log.Stats()
	if h.replace != nil {
		s.Reentrant += h.replace.tooDeep.Load()
	}
	return s
}

// handle takes the record by reference: it is large, and each method called on
// it copies it.
func (h *Handler) handle(ctx context.Context, r *slog.Record) {
	e := h.log.Entry(
		nib.Entry{Time: r.Time, Level: nib.Level(r.Level), PC: r.PC, Message: r.Message})
	if e == nil {
		return
	}
	e.Ctx(ctx)
	// Filled word by word: reading words that were just copied in wider pieces
	// stalls the processor.
	var one [1]slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		one[0].Key, one[0].Value = a.Key, a.Value
		e.Attrs(one[:]...)
		return true
	})
	e.Send()
}

// WithAttrs returns a Handler whose lines all have attrs, which are encoded
// once, now.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if h.replace != nil {
		replace := h.replace
		// Counts user code that ends the goroutine.
		h.log.With(func(*nib.Event) { replace = h.replace.withAttrs(attrs) })
		return &Handler{log: h.log, replace: replace}
	}
	return &Handler{log: h.log.WithAttrs(attrs...)}
}

// WithGroup returns a Handler that puts all further attributes into an object
// under name. An object without attributes is not written.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	if h.replace != nil {
		return &Handler{log: h.log, replace: h.replace.withGroup(name)}
	}
	return &Handler{log: h.log.WithGroup(name)}
}
