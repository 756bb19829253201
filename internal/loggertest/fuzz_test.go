// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/seed"
)

// nested makes a call whose callback continues the program.
func (m *machine) nested(e *nib.Event, obj *node, top bool, k string, nest int) {
	kid := &node{kind: '{'}
	fill := func(e *nib.Event) { m.fields(e, kid, false, nest) }
	same := func(e *nib.Event) { m.fields(e, obj, top, nest) }
	put := func(want *node, add func(e *nib.Event)) { m.put(e, obj, top, k, want, false, add) }
	switch m.next() % 9 {
	case 0, 1:
		put(kid, func(e *nib.Event) { e.Dict(k, fill) })
	case 2:
		put(kid, func(e *nib.Event) { e.Object(k, marshalFunc(fill)) })
	case 3:
		list := listNode()
		put(list, func(e *nib.Event) { e.Array(k, func(a *nib.Array) { m.elements(a, list, nest) }) })
	case 4:
		e.Func(same)
	case 5:
		e.EmbedObject(marshalFunc(same))
	case 6:
		put(textNode("!PANIC: boom"), func(e *nib.Event) { e.Dict(k, func(e *nib.Event) { fill(e); panic("boom") }) })
	case 7:
		put(textNode("!PANIC: boom"), func(e *nib.Event) {
			e.Array(k, func(a *nib.Array) { m.elements(a, listNode(), nest); panic("boom") })
		})
	default:
		if k == "" {
			k = "g" // without a key it would be no group
		}
		v, want := m.any(nest)
		kid.set("x", want)
		put(kid, func(e *nib.Event) { e.Attrs(slog.Group(k, slog.Any("x", v)), slog.Group("empty"), slog.Attr{}) })
	}
}

func (m *machine) elements(a *nib.Array, list *node, nest int) {
	add := func(want *node) { list.kids = append(list.kids, want) }
	for n := m.next() % 6; n > 0 && !m.done(); n-- {
		m.steps++
		switch s, u := m.text(), m.uint64(); m.next() % 9 {
		case 0:
			a.Str(s)
			add(textNode(s))
		case 1:
			a.Int(int64(u)).Uint(u).Null()
			add(plain(int64(u)))
			add(plain(u))
			add(plain(nil))
		case 2:
			f := m.float()
			a.Float(f).Bool(true)
			add(floatNode(f, 64))
			add(plain(true))
		case 3:
			t := m.time()
			a.Time(t).Dur(time.Duration(u))
			add(m.timeNode(t))
			add(m.durNode(time.Duration(u)))
		case 4:
			v, want := m.any(nest)
			a.Any(v)
			add(want)
		case 5:
			a.Err(&trapError{func() { panic(s) }})
			add(textNode("!PANIC: " + s))
		case 6:
			kid := &node{kind: '{'}
			a.Dict(func(e *nib.Event) { m.fields(e, kid, false, maxNest) })
			add(kid)
		case 7:
			kid := listNode()
			if nest < maxNest {
				a.Array(func(a *nib.Array) { m.elements(a, kid, nest+1) })
				add(kid)
			}
		default:
			a.Object(&fieldObject{s, 1})
			add(&node{kind: '{', keys: []string{"name", "n"}, kids: []*node{textNode(s), plain(1)}})
		}
	}
}

var modelLayouts = []nib.Layout{
	{}, {MessageFirst: true, Duration: nib.DurationString, TimeFormat: nib.TimeUnixNano},
	{KeepZone: true, Duration: nib.DurationNanos, TimeFormat: time.RFC3339Nano}, {Duration: nib.DurationSeconds, TimeFormat: nib.TimeUnixMilli},
}

// run writes one line by the program and returns its expected contents.
func (m *machine) run(base *nib.Logger) (l *nib.Logger, want *node) {
	m.layout = modelLayouts[m.next()%len(modelLayouts)]
	l = base.WithOptions(nib.WithLayout(m.layout))
	body := []*node{{kind: '{'}} // the groups, the outermost being the line
	name, groups := "", []string(nil)
	for n := m.next() % 6; n > 0; n-- {
		inner, top := body[len(body)-1], len(body) == 1
		switch m.next() % 4 {
		case 0:
			l = l.With(func(e *nib.Event) { m.fields(e, inner, top, 1) })
		case 1:
			s := m.text()
			l = l.WithAttrs(slog.String("a", s))
			inner.set("a", textNode(s))
		case 2:
			l = l.Named("n")
			name = strings.TrimPrefix(name+".n", ".")
		default:
			l = l.WithGroup("g")
			groups, body = append(groups, "g"), append(body, &node{kind: '{'})
		}
	}
	msg, level := m.text(), nib.Level(m.next()%40-12)
	m.live = body[len(body)-1]
	e := l.At(level)
	m.fields(e, m.live, len(body) == 1, 1)
	m.finish(e, msg)
	for i := len(body) - 1; i > 0; i-- {
		if len(body[i].keys) > 0 {
			body[i-1].set(groups[i-1], body[i])
		}
	}
	want = &node{kind: '{'}
	want.set("time", m.timeNode(testTime))
	want.set("level", textNode(level.String()))
	if name != "" {
		want.set("logger", textNode(name))
	}
	if m.layout.MessageFirst {
		want.set("message", textNode(msg))
	}
	want.keys, want.kids = append(want.keys, body[0].keys...), append(want.kids, body[0].kids...)
	if !m.layout.MessageFirst {
		want.set("message", textNode(msg))
	}
	return l, want
}

func (m *machine) finish(e *nib.Event, msg string) {
	switch m.next() % 3 {
	case 0:
		e.Msg(msg)
	case 1:
		e.Msgf("%s", msg)
	default:
		e.MsgFunc(func() string { return msg })
	}
}

// checkProgram runs a program and compares the line with the model.
func checkProgram(t *testing.T, code []byte, count bool) {
	t.Helper()
	var out bytes.Buffer
	m := &machine{code: code}
	base := nib.New(&out, nib.WithLevel(nib.LevelTrace*100), nib.WithClock(func() time.Time { return testTime }),
		nib.WithErrorHandler(func(err error) { t.Errorf("program %x reports %v", code, err) }))
	l, want := m.run(base)
	got, err := parseLine(out.Bytes())
	if err != nil {
		t.Fatalf("program %x: %v\nline: %q", code, err, out.Bytes())
	}
	if got.String() != want.String() {
		t.Fatalf("program %x\n got %s\nwant %s", code, got, want)
	}
	if count && alloctest.Enabled {
		quiet := nib.New(io.Discard, nib.WithClock(func() time.Time { return testTime }), nib.WithLayout(m.layout))
		if n := mallocsOf(quiet, m.replay); n != 0 {
			for i := range m.replay {
				if n := mallocsOf(quiet, m.replay[i:i+1]); n != 0 {
					t.Errorf("call %d of %d: %d mallocs", i, len(m.replay), n)
				}
			}
			t.Fatalf("program %x: %d mallocs, line of %d bytes", code, n, out.Len())
		}
	}
	l.LogAttrs(context.Background(), nib.LevelInfo, "after")
}

// mallocsOf returns how many allocations a line of these calls costs.
func mallocsOf(l *nib.Logger, calls []func(e *nib.Event)) uint64 {
	least := ^uint64(0)
	for range 6 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 4 {
			e := l.Info()
			for _, call := range calls {
				call(e)
			}
			e.Msg("m")
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

func TestRandomProgramsMatchTheModel(t *testing.T) {
	programs := seed.Times(200_000, 8_000, 2_000)
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	for i := range programs {
		code := make([]byte, 10+r.IntN(400))
		for j := range code {
			code[j] = byte(r.Uint32())
		}
		checkProgram(t, code, i%100 == 0)
	}
}

func FuzzEvent(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		code := make([]byte, 200)
		for j := range code {
			code[j] = byte(r.Uint32())
		}
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) { checkProgram(t, code, true) })
}
