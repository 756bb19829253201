// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"io"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/logfmt"
)

// The views of a line. JSON is the line itself.
const (
	viewJSON    = "json"
	viewConsole = "console"
	viewLogfmt  = "logfmt"
)

// layout returns the layout of all lines: of the Format, or of an option.
func (c *Config) layout() nib.Layout {
	options := slices.Concat([]nib.Option{nib.WithLayout(c.formatLayout())}, c.Options)
	return *contract.LayoutOf(nib.New(io.Discard, options...)).(*nib.Layout)
}

// layouts are the layouts by Format.
var layouts = map[string]func() nib.Layout{
	"ecs": layout.ECS, "gcp": layout.GCP, "datadog": layout.Datadog, "otel": layout.OTel,
	"zap": layout.Zap, "zerolog": layout.Zerolog, "slog": layout.Slog, "logrus": layout.Logrus,
}

// formatLayout returns the layout of the Format.
func (c *Config) formatLayout() nib.Layout {
	if l := layouts[c.Format]; l != nil {
		return l()
	}
	if c.lambda {
		return nib.Layout{TimeKey: "timestamp", LevelName: lambdaLevel}
	}
	return nib.Layout{}
}

// lambdaLevel names a level as AWS Lambda does.
func lambdaLevel(l nib.Level) string {
	switch {
	case l >= nib.LevelPanic:
		return "FATAL"
	case l >= nib.LevelError:
		return "ERROR"
	case l >= nib.LevelWarn:
		return "WARN"
	case l >= nib.LevelInfo:
		return "INFO"
	case l >= nib.LevelDebug:
		return "DEBUG"
	}
	return "TRACE"
}

// viewOf returns how an output shows lines. Destinations other than files, the
// journal, and a spool that another process delivers get JSON.
func (c *Config) viewOf(w *wanted) string {
	switch {
	case w.Scheme == toJournald || w.Scheme == toSpool || w.isNetwork():
		return viewJSON
	case w.Format != "":
		return w.Format
	case c.Format == viewConsole || c.Format == viewLogfmt:
		return c.Format
	}
	return viewJSON
}

// A view passes lines on in another form. The sinks behind it, standard output
// and files, write any text and use only the level of a record.
type view struct {
	next   nib.Sink
	render func(dst, line []byte) []byte

	contract.TraitSet // the sinks behind a view never log
}

var _ nib.Sink = (*view)(nil)

// newView returns a view that passes its text to next.
func newView(name string, next nib.Sink, render func(dst, line []byte) []byte) nib.Sink {
	traits := contract.NeverLogs
	switch {
	case render == nil:
		return next
	case name == viewConsole:
		traits |= contract.TextDurations
	}
	return &view{next: next, render: render, TraitSet: contract.TraitsFor(nil, traits)}
}

// renderOf returns the function of a view that renders a line; nil is JSON.
func renderOf(name string, f *os.File, l nib.Layout) func(dst, line []byte) []byte {
	switch name {
	case viewConsole:
		c := console.Config{Layout: l}
		if f == nil { // not a terminal
			f, c.Color, c.Width = os.Stdout, console.ColorNever, -1
		}
		return console.New(f, c).Render
	case viewLogfmt:
		return logfmt.New(os.Stdout, logfmt.Config{}).Render
	}
	return nil
}

// A viewed is a record whose line is in its own memory.
type viewed struct {
	record nib.Record
	line   []byte
}

var viewedRecords = sync.Pool{New: func() any { return new(viewed) }}

// keepLine is the longest line whose memory is kept.
const keepLine = 64 << 10

// WriteRecord passes r on with its line in another form. 0 allocs.
func (v *view) WriteRecord(r *nib.Record) error {
	b := viewedRecords.Get().(*viewed)
	b.record, b.line = *r, v.render(b.line[:0], r.Line)
	b.record.Line = b.line
	err := v.next.WriteRecord(&b.record)
	b.record = nib.Record{}
	if cap(b.line) <= keepLine {
		viewedRecords.Put(b)
	}
	return err
}

// Flush flushes the sink behind v if it has a Flush method.
func (v *view) Flush(ctx context.Context) error {
	if f, ok := v.next.(delivery.Flusher); ok {
		return f.Flush(ctx)
	}
	return nil
}

// Metrics implements [metrics.Source] for the sink behind v.
func (v *view) Metrics() iter.Seq[metrics.Metric] { return metrics.Of(v.next).Metrics() }
