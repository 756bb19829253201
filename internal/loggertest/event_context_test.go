// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

func TestCtxAddsTheFieldsOfTheLoggerThatTheContextCarries(t *testing.T) {
	var out bytes.Buffer
	bare := nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey})
	base := nib.New(&out, bare)
	num := func(key string, n int) func(*nib.Event) { return func(e *nib.Event) { e.Int(key, n) } }
	request := base.With(num("id", 1))
	for _, tt := range []struct {
		name         string
		log, carried *nib.Logger
		want         string
	}{
		{"a logger without fields", base, request, `"id":1,"own":0`},
		{"the same logger", request, request, `"id":1,"own":0`},
		{"one derived from it", request.With(num("a", 2)), request, `"id":1,"a":2,"own":0`},
		{"its parent", base.With(num("a", 2)), base.With(num("a", 2)).With(num("id", 1)), `"a":2,"id":1,"own":0`},
		{"a sibling", base.With(num("a", 2)).With(num("b", 3)), base.With(num("a", 2)).With(num("id", 1)), `"a":2,"b":3,"id":1,"own":0`},
		{"another value of the same key", base.With(num("id", 12)), request, `"id":12,"id":1,"own":0`},
		{"another value with the same beginning", base.With(num("id", 1)), base.With(num("id", 12)), `"id":1,"id":12,"own":0`},
		{"a group", base.WithGroup("g"), request, `"g":{"own":0},"id":1`},
		{"a group with fields", base.With(num("a", 2)).WithGroup("g").With(num("b", 3)), request, `"a":2,"g":{"b":3,"own":0},"id":1`},
		{"a context's logger with a group", base, request.WithGroup("g").With(num("b", 3)), `"id":1,"g":{"b":3},"own":0`},
		{"a context's logger that waits for a group", base, request.WithGroup("g"), `"id":1,"own":0`},
		{"a key that the layout reserves", base, nib.New(&out, nib.WithLayout(nib.Layout{MessageKey: "m"})).With(func(e *nib.Event) {
			e.Str("message", "forged").Str("a\nb", "c")
		}), `"field.message":"forged","a\nb":"c","own":0`},
		{"errors", base.With(func(e *nib.Event) { e.Err(errors.New("own")) }),
			base.With(func(e *nib.Event) { e.Str("error", "theirs") }), `"error":"own","field.error":"theirs","own":0`},
		{"no fields", base, base, `"own":0`},
		{"a nil logger", base, nil, `"own":0`},
		{"the zero Logger", base, new(nib.Logger), `"own":0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			ctx := nib.NewContext(t.Context(), tt.carried)
			tt.log.Info().Ctx(ctx).Int("own", 0).Msg("m")
			tt.log.Info().Int("own", 0).Msg("m") // nothing stays in the pooled event
			first, second, _ := strings.Cut(out.String(), "\n")
			if want := "{" + tt.want + `,"message":"m"}`; first != want {
				t.Errorf("\n got %s\nwant %s", first, want)
			}
			if tt.carried != tt.log && strings.Contains(second, `"id":1,`) && !strings.Contains(tt.name, "derived") && tt.log == base {
				t.Errorf("the next line: %s", second)
			}
		})
	}
}

func TestCtxWithinAContainerAddsNothingOfTheCarriedLogger(t *testing.T) {
	var out bytes.Buffer
	l := nib.New(&out)
	ctx := nib.NewContext(t.Context(), l.With(func(e *nib.Event) { e.Int("id", 1) }))
	l.Info().Dict("d", func(e *nib.Event) { e.Ctx(ctx) }).Send()
	if !strings.Contains(out.String(), `"d":{}`) {
		t.Errorf("got %s", out.String())
	}
}

// badContext has a Value that fails.
type badContext struct {
	context.Context
	value func() any
}

func (c badContext) Value(any) any { return c.value() }

func TestAContextThatFailsCostsNoLine(t *testing.T) {
	var out bytes.Buffer
	l := nib.New(&out)
	var ctx badContext
	for name, value := range map[string]func() any{
		"panics":       func() any { panic("boom") },
		"logs":         func() any { l.Info().Msg("inner"); return nil },
		"calls itself": func() any { l.Info().Ctx(ctx).Msg("inner"); return nil },
		"lies":         func() any { return "no logger" },
	} {
		t.Run(name, func(t *testing.T) {
			out.Reset()
			ctx = badContext{context.Background(), value}
			l.Info().Ctx(ctx).Msg("outer")
			if !strings.Contains(out.String(), `"message":"outer"}`) {
				t.Errorf("got %q", out.String())
			}
		})
	}
}

// An event that goes back to the pool keeps no large buffer, whatever used it.
func TestEventsKeepNoLargeBuffer(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	l := nib.New(io.Discard)
	carried := l.With(func(e *nib.Event) { e.Str("large", large) })
	ctx := nib.NewContext(context.Background(), carried)
	own := l.With(func(e *nib.Event) { e.Int("own", 1) })
	for name, log := range map[string]func() *nib.Event{
		"Ctx":           func() *nib.Event { e := own.Info().Int("n", 1).Ctx(ctx); e.Msg("m"); return e },
		"Ctx in groups": func() *nib.Event { e := own.WithGroup("g").Info().Int("n", 1).Ctx(ctx); e.Msg("m"); return e },
		"Msgf":          func() *nib.Event { e := l.Info(); e.Msgf("%s", large); return e },
		"Msgf by fmt":   func() *nib.Event { e := l.Info(); e.Msgf("%10s", large); return e },
		"edited": func() *nib.Event {
			e := l.WithOptions(nib.WithRedact("k")).Info().Str("large", large)
			e.Msg("m")
			return e
		},
	} {
		e := reflect.ValueOf(log()).Elem()
		if n := e.FieldByName("scratch").Cap(); n > 64<<10 {
			t.Errorf("%s: the event keeps %d bytes", name, n)
		}
	}
}

func TestCtxDoesNotAllocate(t *testing.T) {
	l := nib.New(discardWriter{})
	ctx := nib.NewContext(t.Context(), l.With(func(e *nib.Event) { e.Str("request_id", "4bf92f3577b34da6") }))
	other := l.With(func(e *nib.Event) { e.Int("a", 1) })
	alloctest.Zero(t, func() {
		l.Info().Ctx(ctx).Msg("m")
		l.LogAttrs(ctx, nib.LevelInfo, "m")
		other.Info().Ctx(ctx).Msg("m")
	})
}

// discardWriter is a writer that nib does not know, unlike io.Discard.
type discardWriter struct{}

func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
