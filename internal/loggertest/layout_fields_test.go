// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
)

// A layoutValue sets one field of a Layout.
type layoutValue struct {
	name string
	set  func(*nib.Layout)
}

// layoutValues returns values for every field of a Layout; an unknown field
// fails the test.
func layoutValues(t *testing.T) (list []layoutValue) {
	values := map[string][]any{
		"TimeFormat":   {nib.TimeUnixNano, "2006"},
		"TimeZone":     {time.FixedZone("", 3600)},
		"KeepZone":     {true},
		"Duration":     {nib.DurationSeconds, nib.DurationNanos, nib.DurationString},
		"LevelName":    {func(l nib.Level) string { return strings.ToUpper(l.String()) }, func(nib.Level) string { panic("level name") }},
		"MessageFirst": {true},
		"Static":       {func(e *nib.Event) { e.Str("static", "x") }, func(*nib.Event) {}},
		"Error":        {layout.ErrorCauses, func(*nib.Event, string, error) {}},
		"Caller":       {textCaller, func(*nib.Event, string, runtime.Frame) {}, func(e *nib.Event, key string, _ runtime.Frame) { e.Str(key, "x").Str("line", "y") }},
	}
	for i, typ := 0, reflect.TypeFor[nib.Layout](); i < typ.NumField(); i++ {
		name := typ.Field(i).Name
		if strings.HasSuffix(name, "Key") {
			values[name] = []any{nib.OmitKey, "the " + name, `a "` + name}
		}
		if len(values[name]) == 0 {
			t.Fatalf("Layout.%s has no value here: add some", name)
		}
		for j, v := range values[name] {
			list = append(list, layoutValue{fmt.Sprint(name, " ", j), func(l *nib.Layout) {
				reflect.ValueOf(l).Elem().Field(i).Set(reflect.ValueOf(v))
			}})
		}
	}
	return list
}

const forged = "forged"

// everyWay logs one line in every way, with the fields of add, which are of a
// struct in a Template.
func everyWay() map[string]func(l *nib.Logger, add func(e *nib.Event)) {
	ctx := context.Background()
	msg := func(e *nib.Event, add func(e *nib.Event)) { add(e); e.Msg("m") }
	row := nib.NewTemplate[struct{ A int }](nib.LevelError, "m")
	hook := func(add func(*nib.Event)) nib.Option {
		return nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { add(e) }))
	}
	return map[string]func(l *nib.Logger, add func(e *nib.Event)){
		"Error": func(l *nib.Logger, add func(*nib.Event)) { msg(l.Error(), add) },
		"At":    func(l *nib.Logger, add func(*nib.Event)) { msg(l.At(nib.LevelError+1), add) },
		"Log":   func(l *nib.Logger, add func(*nib.Event)) { msg(l.WithOptions(nib.WithStack(nib.LevelInfo)).Log(), add) },
		"Fatal": func(l *nib.Logger, add func(*nib.Event)) { msg(l.WithOptions(nib.WithExit(func(int) {})).Fatal(), add) },
		"Panic": func(l *nib.Logger, add func(*nib.Event)) { panicOf(func() { msg(l.Panic(), add) }) },
		"AtDepth": func(l *nib.Logger, add func(*nib.Event)) {
			e := l.AtDepth(nib.LevelError, 0)
			add(e)
			e.Msgf("%s", "m")
		},
		"Entry": func(l *nib.Logger, add func(*nib.Event)) {
			e := l.Entry(nib.Entry{Time: testTime, Level: nib.LevelError, Message: "m", Stack: "s"})
			add(e)
			e.Send()
		},
		"Entry without a time": func(l *nib.Logger, add func(*nib.Event)) {
			e := l.Entry(nib.Entry{Level: nib.LevelError, Message: "m"})
			add(e)
			e.Send()
		},
		"Func": func(l *nib.Logger, add func(*nib.Event)) { l.Error().Func(add).MsgFunc(func() string { return "m" }) },
		"EmbedObject": func(l *nib.Logger, add func(*nib.Event)) {
			l.Error().EmbedObject(marshalFunc(add)).Msg("m")
		},
		"hook": func(l *nib.Logger, add func(*nib.Event)) { l.WithOptions(hook(add)).Error().Msg("m") },
		"With": func(l *nib.Logger, add func(*nib.Event)) { l.With(add).Error().Msg("m") },
		"LogAttrs": func(l *nib.Logger, add func(*nib.Event)) {
			l.With(add).LogAttrs(ctx, nib.LevelError, "m", slog.Int("n", 1))
		},
		"Template": func(l *nib.Logger, add func(*nib.Event)) { row.Log(ctx, l.WithOptions(hook(add)), nil) },
		"Template, bound": func(l *nib.Logger, add func(*nib.Event)) {
			row.Log(nib.NewContext(ctx, l), l.With(add), nil)
		},
		"StdLog": func(l *nib.Logger, add func(*nib.Event)) { l.WithOptions(hook(add)).StdLog(nib.LevelError).Print("m") },
		"StdLog end": func(l *nib.Logger, add func(*nib.Event)) {
			panicOf(func() { l.With(add).StdLog(nib.LevelError).Panic("m") })
		},
		"slog handler": func(l *nib.Logger, add func(*nib.Event)) { // as in package nibslog
			e := l.WithOptions(hook(add)).Entry(nib.Entry{Time: testTime, Level: nib.LevelError, PC: callsite(), Message: "m"})
			e.Ctx(nib.NewContext(ctx, l)).Attrs(slog.Int("n", 1)).Send()
		},
		"Ctx": func(l *nib.Logger, add func(*nib.Event)) {
			l.WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { add(e) })).Error().Ctx(ctx).Msg("m")
		},
	}
}

func callsite() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

// adders add fields that imitate nib's own, and nib's own on demand, in
// different orders; keys are imitated once each.
func adders(keys []string) map[string]func(e *nib.Event) {
	imitate := func(e *nib.Event) {
		for _, k := range keys {
			e.Str(k, forged)
		}
	}
	own := func(e *nib.Event) { e.Err(errAny).Timestamp().Stack().Caller().CallerSkipFrame(0) }
	half := len(keys) / 2
	return map[string]func(e *nib.Event){
		"forged":           imitate,
		"forged, own":      func(e *nib.Event) { imitate(e); own(e) },
		"own, forged":      func(e *nib.Event) { own(e); imitate(e) },
		"Func and Dict":    func(e *nib.Event) { e.Func(own).Func(imitate).Dict("d", func(e *nib.Event) { own(e); imitate(e) }) },
		"Attrs and Fields": func(e *nib.Event) { own(e.Attrs(attrs(keys[:half])...)); e.Fields(fieldMap(keys[half:])) },
	}
}

// A layoutTrial is a layout with the keys of its own fields.
type layoutTrial struct {
	layout nib.Layout
	own    map[string]string // keys of nib's own fields, by the default ones
	keys   []string          // all of both
	all    bool              // the logger adds call site and stack
}

func newLayoutTrial(layout nib.Layout) *layoutTrial {
	x := &layoutTrial{layout: layout, own: map[string]string{}}
	for name, key := range map[string]string{
		"time": layout.TimeKey, "level": layout.LevelKey, "message": layout.MessageKey, "logger": layout.LoggerKey,
		"caller": layout.CallerKey, "stack": layout.StackKey, "error": layout.ErrorKey,
	} {
		x.keys = append(x.keys, name)
		if key == "" {
			key = name
		}
		if x.own[name] = key; key != name && key != nib.OmitKey {
			x.keys = append(x.keys, key)
		}
	}
	return x
}

// TestEveryLayoutFieldHoldsInEveryWayToLog writes lines with every value of
// every field of a Layout, in every way, by loggers with and without names,
// fields and groups, with fields that imitate nib's own under their keys and
// under the default ones. A field that the layout leaves out is not written,
// and its key is free; any other is there once, at the top, and not forged.
func TestEveryLayoutFieldHoldsInEveryWayToLog(t *testing.T) {
	layouts := map[string]nib.Layout{"zero": {}}
	values := layoutValues(t)
	for _, v := range values {
		var l nib.Layout
		v.set(&l)
		layouts[v.name] = l
		for _, w := range values {
			pair := l
			if w.set(&pair); seed.All() {
				layouts[v.name+", "+w.name] = pair
			}
		}
	}
	cases, lines, selected := 0, 0, seed.Sample(t, 4, 20)
	for name, layout := range inOrder(layouts) {
		x := newLayoutTrial(layout)
		opts := []nib.Option{nib.WithLayout(layout), nib.WithErrorHandler(func(error) {})}
		for _, more := range [][]nib.Option{nil, {nib.WithCaller(), nib.WithStack(nib.LevelError)}} {
			x.all = more != nil
			l, c := newCapture(t, append(opts, more...)...)
			loggers := loggersWithGroups(l.Named("app"))
			for way, log := range inOrder(everyWay()) {
				for adder, add := range inOrder(adders(x.keys)) {
					for which, l := range inOrder(loggers) {
						if cases++; !selected() {
							continue
						}
						lines++
						log(l, add)
						line := c.one()
						if err := x.check(line, way, adder, which); err != nil {
							t.Errorf("layout %s, %s with %s, logger %s, caller and stack %v: %v\n got %s", name, way, adder, which, x.all, err, line)
						}
					}
				}
			}
		}
	}
	t.Logf("%d of %d cases", lines, cases)
}

// TestEveryLayoutFieldHoldsForFieldsBoundBefore binds fields in a layout that
// reserves none of their keys, and then sets another layout.
func TestEveryLayoutFieldHoldsForFieldsBoundBefore(t *testing.T) {
	other := nib.WithLayout(nib.Layout{TimeKey: "1", LevelKey: "2", MessageKey: "3", LoggerKey: "4", CallerKey: "5", StackKey: "6", ErrorKey: "7"})
	all := []nib.Option{nib.WithCaller(), nib.WithStack(nib.LevelError), nib.WithErrorHandler(func(error) {})}
	for _, v := range layoutValues(t) {
		var layout nib.Layout
		v.set(&layout)
		x := newLayoutTrial(layout)
		x.all = true
		l, c := newCapture(t, append(all, other)...)
		for which, l := range loggersWithGroups(l.Named("app")) {
			l = l.With(adders(x.keys)["forged"]).WithOptions(nib.WithLayout(layout))
			for end, log := range map[string]func(){
				"forged": func() { l.Error().Msg("m") }, "Err": func() { l.Error().Err(errAny).Msg("m") },
				"LogAttrs": func() { l.LogAttrs(context.Background(), nib.LevelError, "m", slog.Any("f", errAny)) },
				"later":    func() { l.With(func(e *nib.Event) { e.Err(errAny) }).Error().Msg("m") },
			} {
				log()
				line := c.one()
				if end == "LogAttrs" {
					end = "forged"
				}
				if err := x.check(line, "bound", end, which); err != nil {
					t.Errorf("layout %s, %s, logger %s: %v\n got %s", v.name, end, which, err, line)
				}
			}
		}
	}
}

// check checks the keys of a line.
func (x *layoutTrial) check(line *node, way, adder, which string) error {
	hasError := adder != "forged" || strings.Contains(which, "error")
	absent := map[string]bool{ // fields that the line need not have
		"time": way == "Entry without a time", "level": way == "Log", "stack": !x.all, "error": true,
		"caller": !x.all || x.layout.Caller != nil || strings.HasPrefix(way, "Entry"),
	}
	for name, key := range x.own {
		own, forgeries := line.origin(key)
		switch {
		case key == nib.OmitKey:
		case own > 1:
			return fmt.Errorf("%s is there %d times", key, own)
		case own == 0 && !absent[name]:
			return fmt.Errorf("%s is missing", key)
		case forgeries > 0 && (name != "error" || hasError):
			return fmt.Errorf("%s is forged", key)
		}
	}
	inner := line
	for _, group := range []string{"g", "h"} {
		if g := inner.get(group); g != nil {
			inner = g
		}
	}
	for _, key := range x.keys {
		want := key
		if inner == line && x.reserves(key, hasError) {
			want = "field." + key
		}
		if own, forgeries := inner.origin(want); forgeries == 0 || want != key && own > 0 {
			return fmt.Errorf("the field %s is not there as %s", key, want)
		}
		for _, v := range []*node{line, inner, inner.get("d")} {
			if own, _ := v.origin(key); own > 0 && key != x.own["error"] && (v != line || !x.writes(key)) {
				return fmt.Errorf("nib has written %s", key)
			}
		}
	}
	return nil
}

// origin counts the fields with a key: nib's own, and imitations.
func (v *node) origin(key string) (own, forgeries int) {
	if v == nil {
		return 0, 0
	}
	for i, k := range v.keys {
		if k == key && v.kids[i].text == forged {
			forgeries++
		} else if k == key {
			own++
		}
	}
	return own, forgeries
}

// reserves reports whether a field at the top with this key is renamed.
func (x *layoutTrial) reserves(key string, hasError bool) bool {
	return x.writes(key) && (key != x.own["error"] || hasError)
}

// writes reports whether nib writes a field with this key.
func (x *layoutTrial) writes(key string) bool {
	for _, own := range x.own {
		if own == key {
			return true
		}
	}
	return false
}

// A field that is left out has no key, so it protects no other field.
func TestFieldUnderOmitKeyIsCut(t *testing.T) {
	l, c := newCapture(t, nib.WithMaxLine(200), nib.WithLayout(nib.Layout{LoggerKey: nib.OmitKey}))
	l.Info().Str(nib.OmitKey, strings.Repeat("x", 1000)).Msg("m")
	if line := c.one(); len(line.String()) > 200 {
		t.Errorf("got %d bytes, want at most 200", len(line.String()))
	}
}
