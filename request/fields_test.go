// SPDX-License-Identifier: Apache-2.0

package request_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
)

// Collected fields are written as if they had been added to the event: whatever
// the logger does with keys, and whether the event has an error.
func TestCollectedFieldsAreThoseOfTheEvent(t *testing.T) {
	loggers := map[string][]nib.Option{
		"plain": nil,
		"other keys": {nib.WithLayout(nib.Layout{TimeKey: "ts", MessageKey: "msg", ErrorKey: "err",
			Error: func(e *nib.Event, key string, err error) {
				e.Str(key, err.Error()).Str("error.type", "t")
			},
			Caller: func(e *nib.Event, key string, _ runtime.Frame) { e.Str("file", "f") }})},
		"no keys": {nib.WithLayout(nib.Layout{
			TimeKey: nib.OmitKey, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey,
			ErrorKey: nib.OmitKey})},
		"message first": {nib.WithLayout(nib.Layout{MessageFirst: true})},
		"redacted":      {nib.WithRedact("token")},
		"last wins":     {nib.WithDuplicateKeys(nib.DuplicatesLastWins)},
		"renamed":       {nib.WithDuplicateKeys(nib.DuplicatesRename)},
		"short":         {nib.WithMaxLine(120)},
	}
	fields := map[string]func(e *nib.Event){
		"ordinary":  func(e *nib.Event) { e.Str("a", "b").Int("n", 1).Any("m", []any{"x", 1}) },
		"reserved":  func(e *nib.Event) { e.Str("time", "a").Str("msg", "c").Str("ts", "d") },
		"error":     func(e *nib.Event) { e.Str("error", "a").Str("err", "").Str("error.type", "c") },
		"repeated":  func(e *nib.Event) { e.Str("a", "1").Str("a", "2").Str("token", "secret") },
		"escaped":   func(e *nib.Event) { e.Str("a\"\n\u202e", "1").Str("", "2").Str("é", "3") },
		"nested":    func(e *nib.Event) { e.Any("error", map[string]any{"error": 1}) },
		"panicking": func(e *nib.Event) { e.Str("error", "a"); panic("halfway") },
		"none":      func(*nib.Event) {},
	}
	for name, opts := range loggers {
		for _, group := range []string{"", "g"} {
			var rec nibtest.Recorder
			log := nib.NewSink(&rec, append(opts, nib.WithClock(new(nibtest.Clock).Now))...).
				With(func(e *nib.Event) { e.Str("bound", "x") }).WithGroup(group)
			for what, f := range fields {
				for _, withErr := range []string{"", "before", "after"} {
					testCollected(t, name+", "+group+", "+what+", "+withErr, log, &rec, withErr, f)
				}
			}
		}
	}
}

func testCollected(
	t *testing.T, name string, log *nib.Logger, rec *nibtest.Recorder, withErr string,
	f func(*nib.Event),
) {
	t.Helper()
	rec.Reset()
	var r request.Request
	r.Start(t.Context(), nil, log, "r1", "")
	request.Add(&r, f)
	request.Add(&r, f)
	write := func(e *nib.Event, add func(*nib.Event)) {
		if withErr == "before" {
			e.Err(errors.New("boom"))
		}
		add(e)
		if withErr == "after" {
			e.Err(errors.New("boom"))
		}
		e.Str("error", "last").Msg("request")
	}
	write(log.Info(), func(e *nib.Event) { e.Func(f).Func(f) })
	write(r.End(request.Outcome{}), r.AddFields)
	if lines := rec.Lines(); len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("%s:\ngot  %s\nwant %s", name, lines[1], lines[0])
	}
}

// The second End returns nil, for which AddFields does nothing.
func TestAddFieldsWithoutAnEvent(t *testing.T) {
	var rec nibtest.Recorder
	var r request.Request
	r.Start(t.Context(), nil, nib.NewSink(&rec), "r1", "")
	request.Add(&r, func(e *nib.Event) { e.Str("a", "b") })
	e := r.End(request.Outcome{})
	r.AddFields(r.End(request.Outcome{}))
	r.AddFields(e)
	e.Msg("request")
	if lines := rec.Lines(); len(lines) != 1 || !strings.Contains(lines[0], `"a":"b"`) {
		t.Errorf("got %q, want one line with the field", lines)
	}
}
