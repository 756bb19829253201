// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/console"
)

// Durations have units on a console, at any place in a line and through any
// combinators, and stay numbers if a machine reads them too.
func TestDurationsHaveUnitsForPeopleOnly(t *testing.T) {
	var shown, written bytes.Buffer
	view := console.New(&shown, console.Config{Color: console.ColorNever, TimeFormat: nib.OmitKey, MessageWidth: 1})
	const texts = "bound=2s took=18.25ms all=[1s 2µs] job={wait=3ms} sub={took=4ms} at=5ms\n"
	for _, tt := range []struct {
		name string
		to   nib.Sink
		opts []nib.Option
		want string
	}{
		{"console", view, nil, texts},
		{"console, layout with numbers", view, []nib.Option{nib.WithLayout(nib.Layout{Duration: nib.DurationNanos})}, texts},
		{"Filter", sink.Filter(sink.Named("a", view), func(*nib.Record) bool { return true }), nil, texts},
		{"Scope", sink.Backtrace(view, sink.BacktraceConfig{}).Scope(), nil, texts},
		{"Tee with a writer", sink.Tee(view, nib.WriterSink(&written)), nil,
			"bound=2000 took=18.25 all=[1000 0.002] job={wait=3} sub={took=4} at=5\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown.Reset()
			l := nib.NewSink(tt.to, tt.opts...).With(func(e *nib.Event) { e.Dur("bound", 2*time.Second) })
			l.Info().Dur("took", 18250*time.Microsecond).Durs("all", []time.Duration{1e9, 2e3}).
				Any("job", map[string]any{"wait": time.Duration(3e6)}).
				Dict("sub", func(e *nib.Event) { e.Dur("took", 4e6) }).
				Attrs(slog.Duration("at", 5e6)).Msg("m")
			if got := strings.TrimPrefix(shown.String(), "INFO  m  "); got != tt.want {
				t.Errorf("\n got %swant %s", got, tt.want)
			}
		})
	}
}
