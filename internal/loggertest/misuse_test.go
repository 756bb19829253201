// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// stale are calls on an event that has been finished: every method, and some
// that run user code before they check the event.
func stale() []method {
	var all []method
	all = append(append(append(all, keyed...), keyless...), endings...)
	return append(all,
		method{"Attrs LogValuer", func(e *nib.Event, k string) { e.Attrs(slog.Any(k, valuer{slog.IntValue(1)})) }, ""},
		method{"Attrs inline LogValuer", func(e *nib.Event, k string) {
			e.Attrs(slog.Any("", valuer{slog.GroupValue(slog.Int(k, 1))}))
		}, ""},
		method{"Attrs group", func(e *nib.Event, k string) { e.Attrs(slog.Group(k, slog.Int("a", 1))) }, ""},
		method{"Msgf with Stringer", func(e *nib.Event, k string) { e.Msgf("%v", aStringer) }, ""},
		method{"chain", func(e *nib.Event, k string) { e.Str(k, "x").Dict("d", func(*nib.Event) {}).Err(errAny).Msg("again") }, ""},
	)
}

// uncounted methods only read the event.
var uncounted = map[string]bool{"Enabled": true, "Lookup": true}

func TestUseAfterMsgIsIgnoredAndCounted(t *testing.T) {
	for _, m := range stale() {
		l, c := newCapture(t, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
		before := l.Stats().Misused
		e := l.Info()
		e.Msg("first")
		m.add(e, "stale")
		m.add(e, "stale")
		if counted := l.Stats().Misused > before; !counted && !uncounted[m.name] {
			t.Errorf("%s after Msg is not counted", m.name)
		}
		if line := c.one(); line.String() != `{"level":"info","message":"first"}` {
			t.Errorf("%s after Msg\n got %s", m.name, line)
		}
		if e.Enabled() {
			t.Errorf("%s after Msg brought the event back", m.name)
		}
		// Two events are open at once: if one were in the pool twice, they
		// would be the same.
		for range 3 {
			a, b := l.Info(), l.Info()
			if a == b {
				t.Fatalf("%s after Msg: one event has been given out twice", m.name)
			}
			a.Str("a", "1").Msg("")
			b.Str("b", "2").Msg("")
			if lines := c.take(); len(lines) != 2 || lines[0].String() != `{"level":"info","a":"1","message":""}` || lines[1].String() != `{"level":"info","b":"2","message":""}` {
				t.Fatalf("the lines after %s after Msg\n got %s", m.name, lines)
			}
		}
	}
}

func TestRetainedArrayAndDictAreIgnored(t *testing.T) {
	for _, x := range elements {
		l, c := newCapture(t)
		before := l.Stats().Misused
		var kept *nib.Array
		e := l.Info().Array("a", func(a *nib.Array) { kept = a.Int(1) })
		x.add(kept)
		e.Dict("d", func(*nib.Event) { x.add(kept) })
		e.Msg("m")
		x.add(kept)
		if line := c.one(); line.get("a").String() != "[1]" || line.get("d").String() != "{}" || len(line.keys) != 5 {
			t.Errorf("Array.%s on a kept array\n got %s", x.name, line)
		}
		if got := l.Stats().Misused - before; got < 3 {
			t.Errorf("Array.%s on a kept array: got %d counted, want 3", x.name, got)
		}
	}
}

func TestFieldsOfTheEventInsideAnArrayAreIgnored(t *testing.T) {
	for _, m := range append(append([]method{}, keyed...), keyless...) {
		if m.name == "Discard" {
			continue
		}
		l, c := newCapture(t)
		e := l.Info()
		e.Array("a", func(a *nib.Array) {
			a.Int(1)
			m.add(e, "wrong")
			a.Int(2)
		})
		e.Msg("m")
		if line := c.one(); line.get("a").String() != "[1,2]" || line.get("wrong") != nil {
			t.Errorf("Event.%s inside of an array\n got %s", m.name, line)
		}
	}
}

// A user's method that returns the value of a field uses the event of that
// field.
func TestFieldsOfTheEventInsideAValueAreIgnored(t *testing.T) {
	var e *nib.Event
	for _, m := range append(append(append([]method{}, keyed...), keyless...), endings...) {
		if m.name == "Discard" {
			continue
		}
		for _, d := range trapdoors(func() { m.add(e, "wrong") }) {
			if d.want == "panic" || d.name == "Dict" || d.name == "Dict in Dict" || d.name == "Array" || d.name == "Array.Dict" || d.name == "Array.Array" {
				continue // allowed there, or covered by another test
			}
			l, c := newCapture(t)
			e = l.Info()
			d.add(e)
			e.Msg("m")
			line := c.one()
			if line.get(d.want) == nil || line.get("message") == nil || line.get("wrong") != nil {
				t.Errorf("Event.%s inside of %s\n got %s", m.name, d.name, line)
			}
		}
		l, c := newCapture(t)
		e = l.Info()
		e.Msgf("%v", &trap{func() { m.add(e, "wrong") }})
		if line := c.one(); line.get("message").String() != `"s"` || line.get("wrong") != nil {
			t.Errorf("Event.%s inside of Msgf\n got %s", m.name, line)
		}
	}
}

func TestMsgInsideAFunctionThatAddsFieldsIsIgnored(t *testing.T) {
	for _, m := range endings {
		end := func(e *nib.Event) { m.add(e, "") }
		for name, run := range map[string]func(l *nib.Logger){
			"Func": func(l *nib.Logger) { l.Info().Func(end).Msg("m") }, "Dict": func(l *nib.Logger) { l.Info().Dict("d", end).Msg("m") },
			"Object": func(l *nib.Logger) { l.Info().Object("o", marshalFunc(end)).Msg("m") },
			"With":   func(l *nib.Logger) { l.With(end).Info().Msg("m") },
			"hook": func(l *nib.Logger) {
				l.WithOptions(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { end(e) }))).Info().Msg("m")
			},
			"Static": func(l *nib.Logger) { l.WithOptions(nib.WithLayout(nib.Layout{Static: end})).Info().Msg("m") },
		} {
			l, c := newCapture(t)
			run(l)
			if line := c.one(); line.get("message").String() != `"m"` {
				t.Errorf("%s inside of %s\n got %s", m.name, name, line)
			}
			if errs := c.takeErrors(); name != "Static" && (len(errs) != 1 || !strings.Contains(fmt.Sprint(errs), "inside a function") || l.Stats().Misused == 0) {
				t.Errorf("%s inside of %s: got %v", m.name, name, errs)
			}
		}
	}
}

// An event that is never finished, or finished on another goroutine, does no
// harm.
func TestDiscardedAndUnfinishedEventsWriteNothing(t *testing.T) {
	l, c := newCapture(t)
	for range 100 {
		l.Info().Str("lost", "x").Discard()
		l.Info().Str("kept", "y").Send()
	}
	for _, line := range c.take() {
		if line.get("lost") != nil || line.get("kept") == nil {
			t.Errorf("got %s", line)
		}
	}
	l.Info().Str("k", "v").Discard().Msg("no")
	if e := l.Info().Discard(); e.Enabled() {
		t.Error("a discarded event is enabled")
	}
	if got := len(c.take()); got != 0 {
		t.Errorf("got %d lines of discarded events", got)
	}
}
