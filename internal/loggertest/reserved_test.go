// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A forgery adds fields that pretend to be nib's own, in one way. Each adds
// every key of keys, and nothing else.
type forgery struct {
	name string
	opts []nib.Option
	log  func(l *nib.Logger, keys []string) // at info, with the message "real"
}

func strs(e *nib.Event, keys []string) {
	for _, k := range keys {
		e.Str(k, "forged")
	}
}

func fieldMap(keys []string) map[string]any {
	m := map[string]any{}
	for _, k := range keys {
		m[k] = "forged"
	}
	return m
}

func attrs(keys []string) []slog.Attr {
	var list []slog.Attr
	for _, k := range keys {
		list = append(list, slog.String(k, "forged"))
	}
	return list
}

type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

func forgeries(keys []string) []forgery {
	embed := marshalFunc(func(e *nib.Event) { strs(e, keys) })
	end := func(e *nib.Event) { e.Msg("real") }
	return []forgery{
		{"Str", nil, func(l *nib.Logger, keys []string) { e := l.Info(); strs(e, keys); end(e) }},
		{"Str before Msgf", nil, func(l *nib.Logger, keys []string) { e := l.Info(); strs(e, keys); e.Msgf("%s", "real") }},
		{"Fields", nil, func(l *nib.Logger, keys []string) { end(l.Info().Fields(fieldMap(keys))) }},
		{"EmbedObject", nil, func(l *nib.Logger, keys []string) { end(l.Info().EmbedObject(embed)) }},
		{"Func", nil, func(l *nib.Logger, keys []string) { end(l.Info().Func(func(e *nib.Event) { strs(e, keys) })) }},
		{"Attrs", nil, func(l *nib.Logger, keys []string) { end(l.Info().Attrs(attrs(keys)...)) }},
		{"inline group", nil, func(l *nib.Logger, keys []string) {
			end(l.Info().Attrs(slog.Attr{Value: slog.GroupValue(attrs(keys)...)}))
		}},
		{"LogValuer", nil, func(l *nib.Logger, keys []string) {
			end(l.Info().Attrs(slog.Any("", valuer{slog.GroupValue(attrs(keys)...)})))
		}},
		{"LogAttrs", nil, func(l *nib.Logger, keys []string) {
			l.LogAttrs(context.Background(), nib.LevelInfo, "real", attrs(keys)...)
		}},
		{"Entry", nil, func(l *nib.Logger, keys []string) {
			e := l.Entry(nib.Entry{Time: testTime, Message: "real"})
			strs(e, keys)
			e.Send()
		}},
		{"With", nil, func(l *nib.Logger, keys []string) { end(l.With(func(e *nib.Event) { strs(e, keys) }).Info()) }},
		{"With Func", nil, func(l *nib.Logger, keys []string) {
			end(l.With(func(e *nib.Event) { e.Func(func(e *nib.Event) { strs(e, keys) }) }).Info())
		}},
		{"WithAttrs", nil, func(l *nib.Logger, keys []string) { end(l.WithAttrs(attrs(keys)...).Info()) }},
		{"hook", []nib.Option{nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { strs(e, keys) }))},
			func(l *nib.Logger, keys []string) { end(l.Info()) }},
		{"hook before Msgf", []nib.Option{nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { strs(e, keys) }))},
			func(l *nib.Logger, keys []string) { l.Info().Msgf("%s", "real") }},
		{"Ctx", []nib.Option{nib.WithContextFields(func(_ context.Context, e *nib.Event) { strs(e, keys) })},
			func(l *nib.Logger, keys []string) { end(l.Info().Ctx(context.Background())) }},
	}
}

// reservingLayouts returns layouts by the keys that they reserve.
func reservingLayouts() map[string]nib.Layout {
	return map[string]nib.Layout{
		"time level message logger caller stack": {},
		"ts lvl msg name src trace":              {TimeKey: "ts", LevelKey: "lvl", MessageKey: "msg", LoggerKey: "name", CallerKey: "src", StackKey: "trace"},
		"@timestamp log.level m\"sg l c s":       {TimeKey: "@timestamp", LevelKey: "log.level", MessageKey: "m\"sg", LoggerKey: "l", CallerKey: "c", StackKey: "s"},
		"level logger caller stack":              {TimeKey: nib.OmitKey, MessageKey: nib.OmitKey},
		"time message":                           {LevelKey: nib.OmitKey, LoggerKey: nib.OmitKey, CallerKey: nib.OmitKey, StackKey: nib.OmitKey},
	}
}

func TestNoFieldImitatesNibsOwn(t *testing.T) {
	for names, layout := range reservingLayouts() {
		keys := strings.Fields(names)
		for _, first := range []bool{false, true} {
			layout.MessageFirst = first
			for _, f := range forgeries(keys) {
				l, c := newCapture(t, append(f.opts, nib.WithLayout(layout), nib.WithCaller())...)
				f.log(l.Named("app"), keys)
				line := c.one()
				for _, k := range keys {
					if got := line.get("field." + k); got == nil || got.text != "forged" {
						t.Errorf("%s, layout %q\n got %s\nwant the field under field.%s", f.name, names, line, k)
					}
					if got := line.get(k); got != nil && got.text == "forged" || countKey(line, k) > 1 {
						t.Errorf("%s, layout %q: %s is forged\n got %s", f.name, names, k, line)
					}
				}
			}
		}
	}
}

func countKey(line *node, key string) (n int) {
	for _, k := range line.keys {
		if k == key {
			n++
		}
	}
	return n
}

func TestKeysSimilarToReservedOnesAreNotRenamed(t *testing.T) {
	for _, key := range []string{"", "Time", "times", "tim", "leve", "levels", "messag", "massage", "user", "stuck", "error", "msg", "field.time"} {
		l, c := newCapture(t)
		l.Info().Str(key, "v").Msg("m")
		if got := c.one().get(key); got.String() != `"v"` {
			t.Errorf("key %q\n got %s", key, got)
		}
	}
}

func TestReservedKeysInsideContainersAreNotRenamed(t *testing.T) {
	l, c := newCapture(t)
	l.Info().Dict("d", func(e *nib.Event) { e.Str("time", "a").Dict("level", func(e *nib.Event) { e.Str("message", "b") }) }).
		Array("a", func(a *nib.Array) { a.Dict(func(e *nib.Event) { e.Str("stack", "c") }) }).
		Any("m", map[string]any{"logger": 1}).Attrs(slog.Group("g", slog.Int("caller", 2))).Str("time", "d").Msg("m")
	want := `{"time":"2026-01-02T15:04:05.006Z","level":"info","d":{"time":"a","level":{"message":"b"}},"a":[{"stack":"c"}],"m":{"logger":1},"g":{"caller":2},"field.time":"d","message":"m"}`
	if got := c.one().String(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	g := l.WithGroup("time").With(func(e *nib.Event) { e.Str("level", "a") })
	g.Info().Str("message", "b").Msg("m")
	want = `{"time":"2026-01-02T15:04:05.006Z","level":"info","field.time":{"level":"a","message":"b"},"message":"m"}`
	if got := c.one().String(); got != want {
		t.Errorf("in a group\n got %s\nwant %s", got, want)
	}
}

func TestLayoutFunctionsCannotForgeFields(t *testing.T) {
	keys := strings.Fields("time level message logger caller stack")
	l, c := newCapture(t, nib.WithLayout(nib.Layout{
		Static: func(e *nib.Event) { strs(e, keys) },
		Error:  func(e *nib.Event, key string, err error) { e.AnErr(key, err); strs(e, keys) },
	}))
	l.Info().Err(errAny).Msg("real")
	line := c.one()
	for _, k := range keys {
		if got := line.get(k); got != nil && got.text == "forged" || countKey(line, "field."+k) != 2 {
			t.Errorf("%s\n got %s", k, line)
		}
	}
}

// The function for errors may write the keys of an error; a later field may
// not.
func TestFieldsBehindAnErrorCannotForgeIt(t *testing.T) {
	l, c := newCapture(t, nib.WithLayout(nib.Layout{Error: func(e *nib.Event, key string, err error) { e.AnErr(key, err) }}))
	l.Info().Err(errors.Join(errAny, errAny)).Str("error", "forged").Msg("m")
	line := c.one()
	if countKey(line, "error") != 1 || line.get("error").text == "forged" || line.get("field.error").text != "forged" {
		t.Errorf("got %s", line)
	}
}

// Layout.Error is not called with an error that is nil.
func TestNilErrorIsNullInEveryLayout(t *testing.T) {
	l, c := newCapture(t, nib.WithLayout(nib.Layout{Error: func(e *nib.Event, key string, err error) { e.Str(key, err.Error()) }}))
	for _, err := range []error{nil, (*nilError)(nil)} {
		l.Info().Err(err).Msg("m")
		if line := c.one(); line.get("error").String() != "null" {
			t.Errorf("%T: got %s", err, line)
		}
	}
}

// Only the function that writes the caller may write its reserved keys.
func TestLayoutCallerWritesItsKey(t *testing.T) {
	l, c := newCapture(t, nib.WithCaller(), nib.WithLayout(nib.Layout{
		Caller: func(e *nib.Event, key string, f runtime.Frame) {
			e.Dict(key, func(e *nib.Event) { e.Str("func", f.Function[strings.LastIndexByte(f.Function, '.')+1:]) })
		},
	}))
	l.Info().Msg("m")
	if got := c.one().get("caller").String(); got != `{"func":"TestLayoutCallerWritesItsKey"}` {
		t.Errorf("got %s", got)
	}
}

func TestInvalidLayoutsPanicWithWhatToWrite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		layout nib.Layout
		want   []string // parts of the text; none: the layout is valid
	}{
		{"zero", nib.Layout{}, nil},
		{"layout of package time", nib.Layout{TimeFormat: time.Kitchen}, nil},
		{"year alone", nib.Layout{TimeFormat: "2006"}, nil},
		{"Unix", nib.Layout{TimeFormat: nib.TimeUnixNano}, nil},
		{"keys left out", nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey}, nil},
		{"swapped keys", nib.Layout{TimeKey: "level", LevelKey: "time"}, nil},
		{"strftime", nib.Layout{TimeFormat: "%Y-%m-%d"}, []string{`Layout.TimeFormat is "%Y-%m-%d"`, `"2006-01-02 15:04:05.000"`, "nib.TimeUnixMilli"}},
		{"letters", nib.Layout{TimeFormat: "YYYY-MM-DDTHH:mm:ss"}, []string{"no field of a time"}},
		{"key of another field", nib.Layout{ErrorKey: "message"}, []string{`Layout.MessageKey and Layout.ErrorKey are both "message"`, "nib.OmitKey"}},
		{"equal keys", nib.Layout{CallerKey: "at", StackKey: "at"}, []string{"Layout.CallerKey and Layout.StackKey"}},
		{"key of a renamed field", nib.Layout{MessageKey: "field.time", ErrorKey: "field."}, []string{`Layout.MessageKey is "field.time": write a key without the prefix "field."`, "Layout.ErrorKey"}},
		{"two faults", nib.Layout{TimeFormat: "now", LevelKey: "time"}, []string{"Layout.TimeFormat", "Layout.TimeKey and Layout.LevelKey"}},
	} {
		err := tt.layout.Validate()
		got := panicOf(func() { nib.New(io.Discard, nib.WithLayout(tt.layout)) })
		if len(tt.want) == 0 {
			if err != nil || got != "(none)" {
				t.Errorf("%s: got %v and panic %v, want none", tt.name, err, got)
			}
			continue
		}
		if err == nil || got != err.Error() {
			t.Errorf("%s: got %v and panic %v, want the same text", tt.name, err, got)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %q, want %q in it", tt.name, err, part)
			}
		}
	}
}

func TestDuplicateKeysAreBothWritten(t *testing.T) {
	l, c := newCapture(t)
	l.With(func(e *nib.Event) { e.Int("k", 1) }).Info().Int("k", 2).Int("k", 3).Send()
	line := c.one()
	if countKey(line, "k") != 3 {
		t.Errorf("got %s", line)
	}
}

// A layout set later reserves keys that bound fields may have already.
func TestLaterLayoutCannotBeForgedByBoundFields(t *testing.T) {
	l, c := newCapture(t)
	for name, bound := range map[string]*nib.Logger{
		"With": l.With(func(e *nib.Event) {
			e.Str("a", "b").Str("ts", "forged").Dict("msg", func(e *nib.Event) { e.Int("msg", 1) })
		}),
		"WithGroup": l.WithGroup("ts").With(func(e *nib.Event) { e.Str("msg", "inside") }),
		"pending":   l.With(func(e *nib.Event) { e.Str("msg", "forged") }).WithGroup("ts").WithGroup("msg"),
	} {
		bound.WithOptions(nib.WithLayout(nib.Layout{TimeKey: "ts", MessageKey: "msg"})).Info().Int("n", 1).Msg("real")
		line := c.one()
		if countKey(line, "ts") != 1 || countKey(line, "msg") != 1 || line.get("ts").kind != '"' || line.get("msg").text != "real" {
			t.Errorf("%s\n got %s", name, line)
		}
	}
}

// Fields that nib adds on demand must not end up inside a container or twice.
func TestFieldsAddedOnDemandStandAtTheTop(t *testing.T) {
	own := func(e *nib.Event) { e.Timestamp().Caller().CallerSkipFrame(0).Stack().Timestamp().Caller().Stack() }
	timeless := func(l *nib.Logger) *nib.Event { return l.Entry(nib.Entry{}) }
	for name, log := range map[string]func(e *nib.Event){
		"plain":  func(e *nib.Event) { own(e); e.Send() },
		"Func":   func(e *nib.Event) { e.Func(own).Send() },
		"Embed":  func(e *nib.Event) { e.EmbedObject(marshalFunc(own)).Send() },
		"Dict":   func(e *nib.Event) { e.Dict("d", own); own(e); e.Send() },
		"Array":  func(e *nib.Event) { e.Array("d", func(a *nib.Array) { own(e) }); own(e); e.Send() },
		"Object": func(e *nib.Event) { e.Object("o", marshalFunc(own)); own(e); e.Send() },
	} {
		for i, opts := range [][]nib.Option{{}, {}, {nib.WithCaller(), nib.WithStack(nib.LevelInfo)}, {nib.WithCaller()}} {
			l, c := newCapture(t, opts...)
			start := []func(*nib.Logger) *nib.Event{(*nib.Logger).Info, timeless}[i%2]
			log(start(l))
			line := c.one()
			for _, k := range []string{"time", "caller", "stack"} {
				if line.get(k) == nil {
					t.Errorf("%s: %s is missing\n got %s", name, k, line)
				}
			}
			for _, k := range []string{"d", "o"} {
				if v := line.get(k); v != nil && len(v.kids) > 0 {
					t.Errorf("%s: own fields in a container\n got %s", name, v)
				}
			}
		}
	}
}

// The call site may be shown by Err, too: its key is the layout's then.
func TestCallerThatAddsAnErrorReservesItsKey(t *testing.T) {
	var out bytes.Buffer
	l := nib.New(&out, nib.WithCaller(), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, Caller: func(e *nib.Event, _ string, _ runtime.Frame) {
		e.Err(errors.New("unknown"))
	}}))
	l.Info().Str("error", "forged").Err(errors.New("failed")).Msg("")
	const want = `{"level":"info","error":"unknown","field.error":"forged","field.error":"failed","message":""}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}

// Every way to add fields writes the keys that a function of the layout adds.
func TestLayoutFunctionsWriteTheirKeysInEveryWay(t *testing.T) {
	keys := []string{"error", "trace"}
	for name, add := range map[string]func(e *nib.Event){
		"Str":         func(e *nib.Event) { strs(e, keys) },
		"Fields":      func(e *nib.Event) { e.Fields(fieldMap(keys)) },
		"Attrs":       func(e *nib.Event) { e.Attrs(attrs(keys)...) },
		"Func":        func(e *nib.Event) { e.Func(func(e *nib.Event) { strs(e, keys) }) },
		"EmbedObject": func(e *nib.Event) { e.EmbedObject(marshalFunc(func(e *nib.Event) { strs(e, keys) })) },
		"Inline": func(e *nib.Event) {
			nib.Inline(e, struct {
				E string `json:"error"`
				T string `json:"trace"`
			}{"forged", "forged"})
		},
		"Inline of a pointer with methods": func(e *nib.Event) {
			nib.Inline(e, &struct {
				E slog.LevelVar `json:"trace"`
				T any           `json:"error"`
			}{T: errAny})
		},
	} {
		l, c := newCapture(t, nib.WithLayout(nib.Layout{Error: func(e *nib.Event, _ string, _ error) { add(e) }}))
		for _, log := range []func(){
			func() { l.Info().Err(errAny).Msg("m") },
			func() { l.Info().Err(errAny).Str("error", "later").Str("trace", "later").Msg("m") },
			func() { l.Info().Str("error", "before").Str("trace", "before").Err(errAny).Msg("m") },
		} {
			log()
			line := c.one()
			for _, key := range keys {
				if got := line.get(key); got == nil || got.text == "later" || got.text == "before" {
					t.Errorf("%s: %s is not the layout's\n got %s", name, key, line)
				}
			}
		}
	}
}

// The field with the error of Inline or of a Template is a field as any other.
func TestErrorFieldOfAStructIsNotMistakenForTheLayouts(t *testing.T) {
	type failing struct {
		F float64
		V any
	}
	bad := failing{1, func() {}}
	row := nib.NewTemplate[failing](nib.LevelInfo, "m")
	for name, tt := range map[string]struct {
		layout nib.Layout
		bind   func(e *nib.Event)
		want   string
	}{
		"reserved":      {nib.Layout{LevelKey: "error", ErrorKey: "err"}, nil, "field.error"},
		"by Static":     {nib.Layout{ErrorKey: "err", Static: func(e *nib.Event) { e.Str("error", "static") }}, nil, "field.error"},
		"with an error": {nib.Layout{}, func(e *nib.Event) { e.Err(errAny) }, "field.error"},
		"free":          {nib.Layout{}, nil, "error"},
	} {
		l, c := newCapture(t, nib.WithLayout(tt.layout))
		if tt.bind != nil {
			l = l.With(tt.bind)
		}
		nib.Inline(l.Info(), bad).Msg("m")
		row.Log(t.Context(), l, &bad)
		for _, line := range c.take() {
			if got := line.get(tt.want); got == nil || !strings.HasPrefix(got.text, "!ERROR") {
				t.Errorf("%s: got %s, want the error as %q", name, line, tt.want)
			}
		}
	}
}

// A group whose name is the key of an error is renamed when an error comes from
// a context, as a field is.
func TestGroupNamedAsAnErrorThatComesLater(t *testing.T) {
	l, c := newCapture(t)
	ctx := nib.NewContext(context.Background(), l.With(func(e *nib.Event) { e.Err(errAny) }))
	for name, l := range map[string]*nib.Logger{
		"pending": l.WithGroup("error"),
		"open":    l.WithGroup("error").With(func(e *nib.Event) { e.Int("b", 1) }),
		"two":     l.WithGroup("error").WithGroup("g"),
		"layout":  l.WithGroup("error").WithGroup("g").WithOptions(nib.WithLayout(nib.Layout{})),
	} {
		l.Info().Int("a", 1).Ctx(ctx).Msg("m")
		line := c.one()
		if line.get("error").String() != `"`+errAny.Error()+`"` || line.get("field.error") == nil {
			t.Errorf("%s: got %s", name, line)
		}
	}
}
