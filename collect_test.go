// SPDX-License-Identifier: Apache-2.0

package nib_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
)

func TestAppendFields(t *testing.T) {
	seconds := nib.New(new(bytes.Buffer), nib.WithLayout(nib.Layout{Duration: nib.DurationSeconds, MessageKey: "msg"}))
	bound := seconds.With(func(e *nib.Event) { e.Str("bound", "b") })
	for _, tt := range []struct {
		name string
		log  *nib.Logger
		add  func(e *nib.Event)
		want string
	}{
		{"two fields", seconds, func(e *nib.Event) { e.Int("a", 1).Str("b", `"`) }, `x,"a":1,"b":"\""`},
		{"no fields", seconds, func(*nib.Event) {}, `x`},
		{"no function", seconds, nil, `x`},
		{"the layout", seconds, func(e *nib.Event) { e.Dur("d", 1500*time.Millisecond) }, `x,"d":1.5`},
		{"a reserved key", seconds, func(e *nib.Event) { e.Str("msg", "forged") }, `x,"field.msg":"forged"`},
		{"an error", seconds, func(e *nib.Event) { e.Err(errors.New("e")) }, `x,"error":"e"`},
		{"without bound fields", bound, func(e *nib.Event) { e.Int("a", 1) }, `x,"a":1`},
		{"a level that is off", seconds.WithOptions(nib.WithLevel(nib.LevelFatal)), func(e *nib.Event) { e.Int("a", 1) }, `x,"a":1`},
		{"a panic", seconds, func(e *nib.Event) { e.Int("a", 1); panic("p") }, `x,"a":1,"panic":"!PANIC: p"`},
		{"Msg inside", seconds, func(e *nib.Event) { e.Int("a", 1).Msg("no") }, `x,"a":1`},
		{"a nil logger", nil, func(e *nib.Event) { e.Int("a", 1) }, `x`},
		{"the zero logger", new(nib.Logger), func(e *nib.Event) { e.Int("a", 1) }, `x`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "Msg inside" {
				tt.log = tt.log.WithOptions(nib.WithErrorHandler(func(error) {}))
			}
			if got := string(tt.log.AppendFields([]byte("x"), tt.add)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The lines before and after AppendFields may share an event with it.
func TestLinesAroundAppendFields(t *testing.T) {
	var buf bytes.Buffer
	log := nib.New(&buf)
	group := log.WithGroup("g")
	want := regexp.MustCompile(
		`^{"time":"[^"]+","level":"info","g":{"a":1},"message":"m"}\n$`)
	for n := range 200 {
		group.Info().Int("a", 1).Msg("m")
		log.AppendFields(nil, func(e *nib.Event) {
			e.Str("pad", strings.Repeat("x", n)).Str("error", "x").Err(errors.New("e"))
		})
		buf.Reset()
		if group.Info().Int("a", 1).Msg("m"); !want.Match(buf.Bytes()) {
			t.Fatalf("%d: got %s", n, buf.Bytes())
		}
	}
}

func TestAppendFieldsAllocatesNothing(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	log := nib.New(new(bytes.Buffer))
	dst := make([]byte, 0, 512)
	id := "7"
	alloctest.Zero(t, func() { dst = log.AppendFields(dst[:0], func(e *nib.Event) { e.Str("id", id).Int("n", len(id)) }) })
}

func TestWithSinkReplacesTheSinkOnly(t *testing.T) {
	var first, second recordtest.Recorder
	var clock nibtest.Clock
	log := nib.NewSink(&first, nib.WithClock(clock.Now), nib.WithLevel(nib.LevelDebug)).Named("n").With(func(e *nib.Event) { e.Int("a", 1) })
	other := log.WithOptions(nib.WithSink(&second))
	log.Debug().Msg("one")
	other.Debug().Msg("one")
	if first.Len() != 1 || second.Len() != 1 || first.Last() != second.Last() {
		t.Errorf("got %q and %q, want the same line in both", first.Lines(), second.Lines())
	}
	if err := other.Flush(context.Background()); err != nil || second.Flushes() != 1 || first.Flushes() != 0 {
		t.Errorf("Flush: %v; got %d and %d calls, want 0 and 1", err, first.Flushes(), second.Flushes())
	}
	defer func() {
		if p, _ := recover().(string); !strings.Contains(p, "WithSink(nil)") {
			t.Errorf("WithSink(nil) panicked with %q", p)
		}
	}()
	nib.WithSink(nil)
}

func TestSinkOfALogger(t *testing.T) {
	var out bytes.Buffer
	var rec recordtest.Recorder
	front := nib.NewSink(nib.New(&out).Named("a").Sink())
	front.Info().Msg("through")
	if !strings.Contains(out.String(), `"through"`) {
		t.Errorf("got %q, want the line", out.String())
	}
	if got := nib.NewSink(&rec).Sink(); got != nib.Sink(&rec) {
		t.Errorf("got %v, want the sink given to NewSink", got)
	}
	for name, l := range map[string]*nib.Logger{"nil": nil, "zero": new(nib.Logger), "io.Discard": nib.New(io.Discard)} {
		if got := l.Sink(); got != nil {
			t.Errorf("%s: got %v, want nil", name, got)
		}
	}
}
