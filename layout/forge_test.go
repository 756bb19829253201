// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// layouts are the presets and layouts that write more than a preset does.
func layouts() map[string]nib.Layout {
	all := map[string]nib.Layout{
		"default": {},
		"custom": {
			TimeKey: "t", LevelKey: "l", MessageKey: "m", LoggerKey: "n", CallerKey: "c", StackKey: "s", ErrorKey: "e",
			Static: func(e *nib.Event) {
				e.Str("app", "x").Dict("host", func(e *nib.Event) { e.Str("name", "h") }).Int("pid", 1)
			},
			Error: func(e *nib.Event, key string, err error) {
				e.AnErr(key, err).Str(key+"_text", err.Error()).Func(func(e *nib.Event) { e.Bool("failed", true) })
			},
			Caller: func(e *nib.Event, key string, f runtime.Frame) {
				e.Str("func", f.Function).Int("line", f.Line).Str(key, f.File)
			},
		},
		"causes": {Error: layout.ErrorCauses},
		"escaped": {
			Static: func(e *nib.Event) { e.Str("st\"at\n", "x") }, ErrorKey: "err\x00", CallerKey: "c\\", MessageKey: "é ",
			Caller: func(e *nib.Event, key string, f runtime.Frame) { e.Str("\tfunc", f.Function).Str(key, f.File) },
		},
	}
	for _, p := range presets {
		all[p.name] = p.layout
		first := p.layout
		first.MessageFirst = !first.MessageFirst
		all[p.name+", other order"] = first
	}
	return all
}

// A pair is a top-level member of a line.
type pair struct {
	key   string
	value any
}

// pairs reads a line, in which a key may occur twice.
func pairs(t *testing.T, line string) (all []pair) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	for d.More() {
		key, err := d.Token()
		var value any
		if err = errors.Join(err, d.Decode(&value)); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, pair{key.(string), value})
	}
	return all
}

// full logs a line with everything that a layout can write. before and after
// add fields on both sides of Err, and bound adds the logger's fields.
func full(l *nib.Logger, bound, before, after func(e *nib.Event)) {
	err := fmt.Errorf("save: %w", errors.New("disk full"))
	l.Named("app").With(bound).Error().Func(before).Err(err).Func(after).Msg("message")
}

// forgers are ways to log a field under a key.
var forgers = map[string]func(e *nib.Event, key string){
	"Str":    func(e *nib.Event, key string) { e.Str(key, "forged") },
	"Any":    func(e *nib.Event, key string) { e.Any(key, "forged") },
	"Fields": func(e *nib.Event, key string) { e.Fields(map[string]any{key: "forged"}) },
	"Attrs":  func(e *nib.Event, key string) { e.Attrs(slog.String(key, "forged")) },
	"group":  func(e *nib.Event, key string) { e.Attrs(slog.Group("", slog.Any(key, "forged"))) },
	"Val":    func(e *nib.Event, key string) { nib.Val(e, key, "forged") },
	"Ctx":    func(e *nib.Event, key string) { e.Ctx(context.WithValue(context.Background(), forgedKey{}, key)) },
}

type forgedKey struct{}

func TestKeysThatALayoutWritesCannotBeForged(t *testing.T) {
	nothing := func(*nib.Event) {}
	tried := 0
	for name, layout := range layouts() {
		opts := []nib.Option{nib.WithCaller(), nib.WithStack(nib.LevelError), nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
			e.Str(ctx.Value(forgedKey{}).(string), "forged")
		})}
		own := pairs(t, line(layout, func(l *nib.Logger) { full(l, nothing, nothing, nothing) }, opts...))
		if len(own) < 7 {
			t.Fatalf("%s: the line is not full: %v", name, own)
		}
		for _, o := range own {
			for how, forge := range forgers {
				forged := func(e *nib.Event) { forge(e, o.key) }
				for where, log := range map[string]func(l *nib.Logger){
					"bound": func(l *nib.Logger) { full(l, forged, nothing, nothing) }, "before Err": func(l *nib.Logger) { full(l, nothing, forged, nothing) },
					"after Err": func(l *nib.Logger) { full(l, nothing, nothing, forged) }, "all": func(l *nib.Logger) { full(l, forged, forged, forged) },
					"bound error": func(l *nib.Logger) {
						full(l.With(func(e *nib.Event) { e.Func(forged).Err(errors.New("early")).Func(forged) }), forged, nothing, nothing)
					},
				} {
					for _, policy := range []nib.DuplicateKeys{nib.DuplicatesKeep, nib.DuplicatesLastWins, nib.DuplicatesFirstWins, nib.DuplicatesRename} {
						if policy != nib.DuplicatesKeep && how != "Str" {
							continue
						}
						tried++
						got := line(layout, log, append(opts, nib.WithDuplicateKeys(policy))...)
						checkForged(t, name+", "+how+", "+where+", policy "+fmt.Sprint(policy), got, o.key, where == "bound error")
					}
				}
			}
		}
	}
	t.Logf("%d lines", tried)
}

// checkForged checks that nib's own key occurs once, with its value, and the
// forged field under another key.
func checkForged(t *testing.T, what, line, key string, twoErrors bool) {
	t.Helper()
	own, forged := 0, 0
	for _, p := range pairs(t, line) {
		switch {
		case p.key == key && p.value == "forged":
			t.Errorf("%s: %q is forged\n%s", what, key, line)
		case p.key == key:
			own++
		case strings.HasPrefix(p.key, "field."+key) && p.value == "forged":
			forged++
		}
	}
	if own != 1 && (!twoErrors || own != 2) || forged == 0 {
		t.Errorf("%s: %q stands there %d times, forged %d times\n%s", what, key, own, forged, line)
	}
}

// columns are the keys that presets write besides nib's own fields.
type columns struct {
	Func     string `json:"func"`
	Error    string `json:"error"`
	ECS      string `json:"ecs.version"`
	Type     string `json:"error.type"`
	Message  string `json:"error.message"`
	Kind     string `json:"error.kind"`
	Line     string `json:"code.line.number"`
	Function string `json:"code.function.name"`
	Thrown   string `json:"exception.message"`
	Causes   string `json:"errorCauses"`
}

func TestColumnsCannotForgeKeysOfTheLayout(t *testing.T) {
	c := columns{"forged", "forged", "forged", "forged", "forged", "forged", "forged", "forged", "forged", "forged"}
	forged := nib.NewTemplate[columns](nib.LevelError, "message")
	err := errors.New("gone")
	for name, layout := range layouts() {
		own := map[string]bool{}
		log := func(e *nib.Event) { e.Err(err).Msg("m") }
		for _, p := range pairs(t, line(layout, func(l *nib.Logger) { log(l.Error()) }, nib.WithCaller())) {
			own[p.key] = true
		}
		hook := nib.WithHook(errHook{err})
		for how, log := range map[string]func(l *nib.Logger){
			"Inline before Err": func(l *nib.Logger) { nib.Inline(l.Error(), c).Err(err).Msg("m") },
			"Inline after Err":  func(l *nib.Logger) { nib.Inline(l.Error().Err(err), &c).Msg("m") },
			"With Inline":       func(l *nib.Logger) { l.With(func(e *nib.Event) { nib.Inline(e, c) }).Error().Err(err).Msg("m") },
			"Line and hook":     func(l *nib.Logger) { forged.Log(context.Background(), l.WithOptions(hook), &c) },
			"Line, bound Err":   func(l *nib.Logger) { forged.Log(context.Background(), l.With(func(e *nib.Event) { e.Err(err) }), &c) },
			"later layout": func(l *nib.Logger) {
				bare := l.WithOptions(nib.WithLayout(nib.Layout{ErrorKey: "none"}))
				bare.With(func(e *nib.Event) { nib.Inline(e, c) }).WithOptions(nib.WithLayout(layout)).Error().Err(err).Msg("m")
			},
		} {
			got := line(layout, log, nib.WithCaller())
			seen := map[string]bool{}
			for _, p := range pairs(t, got) {
				if seen[p.key] || own[p.key] && p.value == "forged" {
					t.Errorf("%s, %s: %q is forged, or there twice\n%s", name, how, p.key, got)
				}
				seen[p.key] = true
			}
		}
	}
}

type errHook struct{ err error }

func (h errHook) Run(e *nib.Event, _ nib.Level, _ string) { e.Err(h.err) }

// In lines without an error its keys are the caller's: slog.Any("error", err)
// stays unchanged.
func TestKeysOfAnErrorAreFreeWithoutOne(t *testing.T) {
	for name, layout := range layouts() {
		key := layout.ErrorKey
		if key == "" {
			key = "error"
		}
		for _, p := range pairs(t, line(layout, func(l *nib.Logger) { l.With(func(e *nib.Event) { e.Int("n", 1) }).Info().Str(key, "mine").Msg("m") })) {
			if p.value == "mine" && p.key != key {
				t.Errorf("%s: %q became %q", name, key, p.key)
			}
		}
	}
}

// The fields of the function for call sites must not pass for others.
func TestTheFunctionForCallSitesCannotForge(t *testing.T) {
	layout := nib.Layout{
		Static: func(e *nib.Event) { e.Str("app", "real") },
		Caller: func(e *nib.Event, key string, _ runtime.Frame) {
			e.Str("time", "forged").Str("level", "forged").Str("message", "forged").Str("app", "x").Str(key, "site").Err(errors.New("gone"))
		},
	}
	got := line(layout, func(l *nib.Logger) { l.Error().Msg("m") }, nib.WithCaller())
	for _, p := range pairs(t, got) {
		if p.value == "forged" && !strings.HasPrefix(p.key, "field.") {
			t.Errorf("%q is forged\n%s", p.key, got)
		}
	}
	fields(t, got) // fails for a key that comes twice
}
