// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

// The arguments of the methods are made beforehand: the tests count the
// allocations of nib, not of the arguments.
var (
	someMap       = map[string]any{"a": 1, "b": "two", "c": nil, "d": errAny, "e": []any{1, 2}}
	someStringers = []fmt.Stringer{aStringer, nil, aStringer}
	someAttrs     = []slog.Attr{slog.String("a", "b"), slog.Int("c", 1), slog.Bool("d", true), slog.Duration("e", 5), slog.Time("f", aTime)}
	rawMap        = []byte(`{"a": [1, 2, 3]}`)
	ctxWithID     = context.WithValue(context.Background(), ctxID{}, "id")
	aPointer      = &fieldObject{"p", 1}
)

type ctxID struct{}

// free returns the methods with ordinary arguments. It replaces the methods of
// keyed whose arguments allocate.
func free() []method {
	own := map[string]func(e *nib.Event, k string){
		"RawJSON":   func(e *nib.Event, k string) { e.RawJSON(k, rawMap) },
		"Fields":    func(e *nib.Event, _ string) { e.Fields(someMap) },
		"Stringers": func(e *nib.Event, k string) { e.Stringers(k, someStringers) },
		"Errs":      func(e *nib.Event, k string) { e.Errs(k, someErrors) },
		"Attrs":     func(e *nib.Event, _ string) { e.Attrs(someAttrs...) },
		"Any":       func(e *nib.Event, k string) { e.Any(k, someMap) },
	}
	var all []method
	for _, m := range append(append([]method{}, keyed...), keyless...) {
		if add, ok := own[m.name]; ok {
			m.add = add
		}
		all = append(all, m)
	}
	return append(all,
		method{"literals", func(e *nib.Event, k string) {
			e.Errs(k, []error{errAny, nil}).Stringers(k, []fmt.Stringer{aStringer}).Strs(k, []string{k, "x"})
			e.IPAddr(k, net.IP{1, 2, 3, byte(len(k))}).MACAddr(k, net.HardwareAddr{1, 2, 3, 4, 5, 6})
		}, ""},
		method{"Any constant", func(e *nib.Event, k string) { e.Any(k, "constant").Any(k, 7).Any(k, true) }, ""},
		method{"Any pointer", func(e *nib.Event, k string) { e.Any(k, aPointer) }, ""},
		method{"Any nil", func(e *nib.Event, k string) { e.Any(k, nil) }, ""},
		method{"Any error", func(e *nib.Event, k string) { e.Any(k, errAny) }, ""},
		method{"Attrs inline", func(e *nib.Event, k string) {
			e.Attrs(slog.String(k, "v"), slog.Int(k, 1), slog.Uint64(k, 1), slog.Float64(k, 0.5), slog.Bool(k, true))
		}, ""},
		method{"Array of all", func(e *nib.Event, k string) {
			e.Array(k, func(a *nib.Array) {
				a.Str("x").Int(1).Uint(2).Float(0.5).Bool(true).Time(aTime).Dur(5).Err(errAny).Object(anObject).Null()
				a.Dict(func(e *nib.Event) { e.Str("a", "b") }).Array(func(a *nib.Array) { a.Int(1) })
			})
		}, ""},
		method{"closures", func(e *nib.Event, k string) {
			n := len(k)
			e.Dict(k, func(e *nib.Event) { e.Int("n", n) }).Array(k, func(a *nib.Array) { a.Int(int64(n)) }).Func(func(e *nib.Event) { e.Int("n", n) })
		}, ""},
	)
}

var allocLayouts = map[string][]nib.Option{
	"default": {}, "Tokyo": nil, "UnixNano": {nib.WithLayout(nib.Layout{TimeFormat: nib.TimeUnixNano})},
	"RFC1123": {nib.WithLayout(nib.Layout{TimeFormat: time.RFC1123Z})}, "local": {nib.WithLayout(nib.Layout{KeepZone: true})},
	"clock": {nib.WithClock(time.Now)}, "first": {nib.WithLayout(nib.Layout{MessageFirst: true, Duration: nib.DurationString})},
	"caller":  {nib.WithCaller()},
	"hook":    {nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { e.Str("h", "v") }))},
	"sampler": {nib.WithSampler(sampleFunc(func(nib.Level) bool { return true })), nib.WithLevel(&nib.LevelVar{})},
	"context": {nib.WithContextFields(func(ctx context.Context, e *nib.Event) { e.Str("id", ctx.Value(ctxID{}).(string)) })},
}

func allocLoggers(t *testing.T) map[string]*nib.Logger {
	allocLayouts["Tokyo"] = []nib.Option{nib.WithLayout(nib.Layout{TimeZone: zone(t, "Asia/Tokyo")})}
	loggers := map[string]*nib.Logger{}
	for name, opts := range allocLayouts {
		loggers[name] = nib.New(io.Discard, opts...)
	}
	l := nib.New(io.Discard)
	loggers["With"] = l.With(func(e *nib.Event) { e.Str("a", strings.Repeat("x", 300)) }).Named("n")
	loggers["groups"] = loggers["With"].WithGroup("a").With(func(e *nib.Event) { e.Int("b", 1) }).WithGroup("c")
	loggers["sink"] = nib.NewSink(sinkFunc(func(*nib.Record) error { return nil }))
	loggers["writer"] = nib.New(&countWriter{})
	return loggers
}

func TestMethodsDoNotAllocate(t *testing.T) {
	loggers := allocLoggers(t)
	for _, m := range free() {
		for _, name := range []string{"default", "Tokyo", "context", "groups"} {
			l := loggers[name]
			if m.name == "CallerSkipFrame" && name != "default" {
				continue
			}
			t.Run(m.name+"/"+name, func(t *testing.T) {
				add := m.add
				if m.name == "Ctx" {
					bound := l.With(func(e *nib.Event) { e.Ctx(ctxWithID).Str("request", "r") })
					carries := nib.NewContext(ctxWithID, bound)
					add = func(e *nib.Event, _ string) { e.Ctx(ctxWithID).Ctx(carries) }
				}
				log := func() {
					e := l.Info()
					add(e, "key")
					e.Msg("m")
				}
				if m.name == "Stack" {
					// Each call path from Zero to here is another stack, which
					// is cached once.
					if got, _ := alloctest.Count(log, 1000); got > 0 && alloctest.Enabled {
						t.Errorf("got %v mallocs", got)
					}
					return
				}
				alloctest.Zero(t, log)
			})
		}
	}
}

func TestLoggersDoNotAllocate(t *testing.T) {
	for name, l := range allocLoggers(t) {
		for _, size := range []int{0, 4, 33, 200, 2000} {
			msg := strings.Repeat("x", size)
			t.Run(fmt.Sprint(name, "/", size), func(t *testing.T) {
				alloctest.Zero(t, func() {
					l.Info().Str("a", "b").Int("c", 1).Dur("d", 5).Time("t", aTime).Err(errAny).Msg(msg)
					l.Log().Send()
					l.At(nib.LevelInfo + 1).Msg(msg)
				})
			})
		}
	}
}

func TestOtherWaysToLogDoNotAllocate(t *testing.T) {
	pc, _, _, _ := runtime.Caller(0)
	for name, l := range allocLoggers(t) {
		for way, f := range map[string]func(){
			"LogAttrs": func() {
				l.LogAttrs(ctxWithID, nib.LevelInfo, "m", slog.String("a", "b"), slog.Int("c", 1), slog.Bool("d", true), slog.Duration("e", 5), slog.Float64("f", 0.5))
			},
			"LogAttrs kept": func() { l.LogAttrs(ctxWithID, nib.LevelInfo, "m", someAttrs...) },
			"Entry": func() {
				l.Entry(nib.Entry{Time: aTime, Level: nib.LevelWarn, PC: pc, Message: "m"}).Str("a", "b").Send()
			},
			"MsgFunc":   func() { l.Info().MsgFunc(func() string { return "m" }) },
			"constants": func() { l.Info().Msgf("n %s %d", "constant", 7) },
			"Discard":   func() { l.Info().Str("a", "b").Discard().Msg("m") },
			"Lookup":    func() { e := l.Info().Str("a", "b"); e.Lookup("a"); e.Msg("m") },
		} {
			if name == "hook" && way == "constants" {
				continue // a hook is given the text of Msgf as a string
			}
			t.Run(name+"/"+way, func(t *testing.T) { alloctest.Zero(t, f) })
		}
	}
}

func TestDisabledCallsDoNotAllocate(t *testing.T) {
	var v nib.LevelVar
	v.Set(nib.LevelError)
	for name, l := range map[string]*nib.Logger{
		"level": nib.New(io.Discard, nib.WithLevel(nib.LevelError)), "var": nib.New(io.Discard, nib.WithLevel(&v)), "nil": nil,
		"sampler": nib.New(io.Discard, nib.WithSampler(sampleFunc(func(nib.Level) bool { return false }))),
	} {
		for _, m := range free() {
			t.Run(name+"/"+m.name, func(t *testing.T) {
				alloctest.Zero(t, func() {
					e := l.Info()
					m.add(e, "k")
					e.Msg("m")
					l.LogAttrs(ctxWithID, nib.LevelInfo, "m", someAttrs...)
				})
			})
		}
	}
}

// Go boxes the arguments of Msgf before nib is called; nib adds nothing.
func TestMsgfAllocatesOnlyGosBoxes(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	l, off := nib.New(io.Discard), nib.New(io.Discard, nib.WithLevel(nib.LevelError))
	n, s := 123456, strings.Repeat("x", 20)
	boxes, _ := alloctest.Count(func() { n++; boxed(n, s) }, 1000)
	for name, l := range map[string]*nib.Logger{"on": l, "off": off} {
		if got, _ := alloctest.Count(func() { n++; l.Info().Msgf("%d %s", n, s) }, 1000); got > boxes {
			t.Errorf("%s: got %v mallocs, and %v by the boxes alone", name, got, boxes)
		}
	}
}

var boxSink []any

//go:noinline
func boxed(args ...any) { boxSink = args; boxSink = nil }

func TestDerivedLoggersAllocateTwice(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	l := nib.New(io.Discard)
	g := l.WithGroup("a").WithGroup("b")
	for name, f := range map[string]func(){
		"With":               func() { l.With(func(e *nib.Event) { e.Str("a", "b").Int("c", 1) }) },
		"With in groups":     func() { g.With(func(e *nib.Event) { e.Str("a", "b") }) },
		"WithAttrs":          func() { l.WithAttrs(someAttrs...) },
		"WithAttrs in group": func() { g.WithAttrs(someAttrs...) },
		"WithGroup":          func() { l.WithGroup("g") },
	} {
		if got, _ := alloctest.Count(f, 1000); got > 2 {
			t.Errorf("%s: got %v mallocs, want at most 2", name, got)
		}
	}
}

// After a collection has emptied the pools a line costs an event, its buffer
// and the pool's own table. The runtime's list of all pools in use, which grows
// by doubling after each collection, is made before the count.
func TestColdLinesAllocateThreeTimesAtMost(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	l := nib.New(io.Discard)
	log := func() { l.Info().Str("a", "b").Int("c", 1).Err(errAny).Msg("m") }
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	least := ^uint64(0)
	var others [3]sync.Pool
	for range 20 {
		log()
		runtime.GC()
		runtime.GC()
		for i := range others {
			others[i].Put(&others)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		log()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least > 3 {
		t.Errorf("got %d mallocs, want at most 3", least)
	}
}
