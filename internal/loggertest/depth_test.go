// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// Types whose values can be nested to any depth, or contain themselves.
type (
	chain     struct{ Next *chain }
	tree      struct{ Kids []*tree }
	anyChain  struct{ Next any }
	nibChain  struct{ next *nibChain }
	embChain  struct{ next *embChain }
	namedMap  map[string]any
	logChain  struct{ key string }
	joinCycle struct{ _ int } // not empty: two of them need two addresses
)

func (c *nibChain) MarshalNib(e *nib.Event) { e.Int("i", 1).Object("next", c.next) }
func (c *embChain) MarshalNib(e *nib.Event) { e.EmbedObject(c.next) }
func (c logChain) LogValue() slog.Value     { return slog.GroupValue(slog.Any(c.key, c)) }
func (c *joinCycle) Error() string          { return "cycle" }
func (c *joinCycle) Unwrap() []error        { return []error{c, c} }

// endless values contain themselves.
func endless() map[string]any {
	m := map[string]any{}
	m["self"] = m
	nm := namedMap{}
	nm["self"] = nm
	s := []any{nil}
	s[0] = s
	c := &chain{}
	c.Next = c
	tr := &tree{Kids: make([]*tree, 3)}
	for i := range tr.Kids {
		tr.Kids[i] = tr
	}
	a := &anyChain{}
	a.Next = a
	n := &nibChain{}
	n.next = n
	var p any
	p = &p
	type ptr *ptr
	var q ptr
	q = &q
	return map[string]any{
		"map": m, "named map": nm, "slice": s, "struct": c, "tree": tr, "struct of any": a, "marshaler": n, "pointer to any": p,
		"pointer": q, "map in a struct": struct{ M any }{m}, "slice of maps": []map[string]any{m}, "array": [1]any{s},
	}
}

func TestCyclicValuesEndAtTheDepthLimit(t *testing.T) {
	for name, v := range endless() {
		for way, add := range map[string]func(e *nib.Event){
			"Any": func(e *nib.Event) { e.Any("k", v) }, "Fields": func(e *nib.Event) { e.Fields(map[string]any{"k": v}) },
			"Attrs": func(e *nib.Event) { e.Attrs(slog.Any("k", v)) }, "Array": func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Any(v) }) },
			"group": func(e *nib.Event) { e.Attrs(slog.Group("k", slog.Any("a", v))) },
		} {
			watch(t, func() {
				got := value(t, add)
				if !strings.Contains(got.String(), "!ERROR: ") {
					t.Errorf("%s by %s\n got %s", name, way, got)
				}
				if d := got.depth(); d > 33 {
					t.Errorf("%s by %s is %d deep", name, way, d)
				}
			})
		}
	}
}

// depth returns how deep containers are nested.
func (v *node) depth() (d int) {
	for _, kid := range v.kids {
		d = max(d, kid.depth())
	}
	if v.kind == '{' || v.kind == '[' {
		d++
	}
	return d
}

// Values that contain themselves more than once have 2 to the 32 paths down to
// the limit.
func TestValuesThatContainThemselvesTwiceEnd(t *testing.T) {
	m := map[string]any{}
	m["a"], m["b"] = m, m
	s := []any{nil, nil}
	s[0], s[1] = s, s
	mixed := map[string]any{"n": 1, "x": []any{m, s}, "y": s}
	var dict, fun func(e *nib.Event)
	dict = func(e *nib.Event) { e.Dict("a", dict).Dict("b", dict) }
	fun = func(e *nib.Event) { e.Func(fun).Func(fun) }
	var array func(a *nib.Array)
	array = func(a *nib.Array) { a.Array(array).Array(array).Dict(dict) }
	causes := func(e *nib.Event, key string, err error) { e.Err(err).Err(err) }
	for name, add := range map[string]func(e *nib.Event){
		"map": func(e *nib.Event) { e.Any("k", m) }, "slice": func(e *nib.Event) { e.Any("k", s) }, "mixed": func(e *nib.Event) { e.Any("k", mixed) },
		"Fields": func(e *nib.Event) { e.Fields(m) }, "Dict": func(e *nib.Event) { e.Dict("k", dict) },
		"Func": fun, "Array": func(e *nib.Event) { e.Array("k", array) },
		"Object":            func(e *nib.Event) { e.Object("k", marshalFunc(dict)) },
		"EmbedObject":       func(e *nib.Event) { e.EmbedObject(marshalFunc(fun)) },
		"LogValue":          func(e *nib.Event) { e.Attrs(slog.Any("k", twiceValuer{"k"}), slog.Any("l", twiceValuer{""})) },
		"Any in slog":       func(e *nib.Event) { e.Attrs(slog.Any("k", m)) },
		"Err":               func(e *nib.Event) { e.Err(errAny) },
		"Ctx":               func(e *nib.Event) { e.Ctx(context.Background()) },
		"Val":               func(e *nib.Event) { nib.Val(e, "k", m); nib.Val(e, "l", struct{ M, N any }{m, s}) },
		"every way at once": func(e *nib.Event) { e.Object("k", &everything{}) },
	} {
		watch(t, func() {
			l, c := newCapture(t, nib.WithLayout(nib.Layout{Error: causes}),
				nib.WithContextFields(func(ctx context.Context, e *nib.Event) { e.Ctx(ctx).Ctx(ctx) }))
			e := l.Info().Str("before", "x")
			add(e)
			e.Dict("after", func(e *nib.Event) { e.Dict("y", func(*nib.Event) {}) }).Msg("m")
			line := c.one()
			if !strings.Contains(line.String(), "!ERROR: ") || line.get("before") == nil || line.get("after").String() != `{"y":{}}` {
				t.Errorf("%s\n got %.1000s", name, line)
			}
		})
	}
}

// A value that contains itself twice does not affect the fields beside it, also
// in functions, which are levels themselves.
func TestFieldsBesideAValueThatContainsItselfAreWhole(t *testing.T) {
	m := map[string]any{}
	m["a"], m["b"] = m, m
	s := []any{nil, nil}
	s[0], s[1] = s, s
	v := &everything{}
	deep := func(e *nib.Event) { e.Dict("y", func(e *nib.Event) { e.Any("z", []any{map[string]any{"k": "end"}}) }) }
	for name, add := range map[string]func(e *nib.Event){
		"map": func(e *nib.Event) { e.Any("k", m) }, "slice": func(e *nib.Event) { e.Any("k", s) }, "Fields": func(e *nib.Event) { e.Fields(m) },
		"Object": func(e *nib.Event) { e.Object("k", v) }, "Any": func(e *nib.Event) { e.Any("k", v) }, "Dict": func(e *nib.Event) { e.Dict("k", v.MarshalNib) },
		"Array": func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Any(s).Object(v).Any(m) }) },
		"Attrs": func(e *nib.Event) {
			e.Attrs(slog.Any("k", twiceValuer{"k"}), slog.Group("l", slog.Any("", twiceValuer{""})))
		},
		"Inline": func(e *nib.Event) { nib.Inline(e, struct{ M, N any }{m, s}) },
	} {
		for _, w := range lineWays {
			for nesting, nest := range map[string]func(e *nib.Event, f func(*nib.Event)){
				"no": func(e *nib.Event, f func(*nib.Event)) { f(e) }, "one": func(e *nib.Event, f func(*nib.Event)) { e.Func(f) },
				"more": func(e *nib.Event, f func(*nib.Event)) { e.EmbedObject(marshalFunc(func(e *nib.Event) { e.Func(f) })) },
			} {
				if w.name == "Dict" {
					continue // the rest of the same container is cut off
				}
				watch(t, func() {
					l, c := newCapture(t)
					w.log(l, func(e *nib.Event) {
						nest(e, func(e *nib.Event) { add(e); e.Dict("beside", deep); add(e); e.Dict("after", deep) })
					})
					line := c.one().String()
					for _, key := range []string{"beside", "after"} {
						if !strings.Contains(line, `"`+key+`":{"y":{"z":[{"k":"end"}]}}`) || !strings.Contains(line, "!ERROR: ") {
							t.Errorf("%s in %s, in %s function: the field %s is cut off\n got %.2000s", name, w.name, nesting, key, line)
						}
					}
				})
			}
		}
	}
}

// An everything contains itself in every way in which fields are nested.
type everything struct{}

func (v *everything) MarshalNib(e *nib.Event) {
	e.Func(v.MarshalNib).EmbedObject(v).Dict("d", v.MarshalNib).Object("o", v).Any("m", map[string]any{"v": v}).Any("l", []any{v}).
		Attrs(slog.Any("s", twiceValuer{""}), slog.Group("g", slog.Any("v", v))).Err(errAny)
}

type twiceValuer struct{ key string }

func (v twiceValuer) LogValue() slog.Value {
	return slog.GroupValue(slog.Any(v.key, v), slog.Any("b", v))
}

func TestMethodsThatNestEndlesslyEndAtTheDepthLimit(t *testing.T) {
	emb := &embChain{}
	emb.next = emb
	cyc := make([]slog.Attr, 1)
	cyc[0] = slog.Attr{Value: slog.GroupValue(cyc...)}
	var dict, fun func(e *nib.Event)
	dict = func(e *nib.Event) { e.Int("i", 1).Dict("d", dict) }
	fun = func(e *nib.Event) { e.Func(fun) }
	var array func(a *nib.Array)
	array = func(a *nib.Array) { a.Int(1).Array(array) }
	var mixed func(e *nib.Event)
	mixed = func(e *nib.Event) {
		e.Array("a", func(a *nib.Array) { a.Dict(func(e *nib.Event) { e.Func(mixed) }) })
	}
	for name, add := range map[string]func(e *nib.Event){
		"Dict": dict, "Func": fun, "Array": func(e *nib.Event) { e.Array("k", array) }, "mixed": mixed,
		"EmbedObject":        func(e *nib.Event) { e.EmbedObject(emb) },
		"LogValue":           func(e *nib.Event) { e.Attrs(slog.Any("k", logChain{"k"})) },
		"LogValue inline":    func(e *nib.Event) { e.Attrs(slog.Any("", logChain{""})) },
		"LogValue of itself": func(e *nib.Event) { e.Attrs(slog.Any("k", selfValuer{})) },
		"inline group":       func(e *nib.Event) { e.Attrs(cyc...) },
		"keyed group":        func(e *nib.Event) { e.Attrs(slog.Group("k", deepGroup(1000))) },
	} {
		watch(t, func() {
			l, c := newCapture(t)
			e := l.Info().Str("before", "x")
			add(e)
			e.Str("after", "y").Msg("m")
			line := c.one()
			if !strings.Contains(line.String(), "!ERROR: ") || line.get("before") == nil || line.get("after") == nil || line.depth() > 34 {
				t.Errorf("%s, %d deep\n got %s", name, line.depth(), line)
			}
		})
	}
}

type selfValuer struct{}

func (v selfValuer) LogValue() slog.Value { return slog.AnyValue(v) }

func deepGroup(n int) slog.Attr {
	a := slog.Int("bottom", 1)
	for range n {
		a = slog.Group("g", a)
	}
	return a
}

func TestDepthLimitIsExact(t *testing.T) {
	lists, maps, structs := nested(32), any("bottom"), (*chain)(nil)
	for range 32 {
		maps = namedMap{"m": maps}
		structs = &chain{structs}
	}
	for name, v := range map[string]any{"lists": lists, "maps": maps, "structs by pointers": structs} {
		if got := value(t, func(e *nib.Event) { e.Any("k", v) }); got.depth() != 32 || strings.Contains(got.String(), "!ERROR") {
			t.Errorf("%s, 32 deep\n got %s", name, got)
		}
		deeper := []any{v}
		if got := value(t, func(e *nib.Event) { e.Any("k", deeper) }); !strings.Contains(got.String(), "!ERROR") {
			t.Errorf("%s, 33 deep\n got %s", name, got)
		}
	}
	for n := 31; n < 34; n++ {
		raw := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		got := value(t, func(e *nib.Event) { e.RawJSON("k", raw) })
		if list := got.kind == '['; list != (n <= 32) {
			t.Errorf("RawJSON, %d deep\n got %s", n, got)
		}
	}
}

func TestValuesAThousandDeepAreCutOff(t *testing.T) {
	var v any = 1
	structs := &chain{}
	n := &nibChain{}
	err := error(errAny)
	for range 1000 {
		v = map[string]any{"m": v}
		structs = &chain{structs}
		n = &nibChain{n}
		err = fmt.Errorf("%w", err)
	}
	raw := []byte(strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000))
	for name, add := range map[string]func(e *nib.Event){
		"map": func(e *nib.Event) { e.Any("k", v) }, "list": func(e *nib.Event) { e.Any("k", nested(1000)) },
		"struct": func(e *nib.Event) { e.Any("k", structs) }, "marshaler": func(e *nib.Event) { e.Object("k", n) },
		"message": func(e *nib.Event) { e.Any("k", json.RawMessage(raw)) }, "raw": func(e *nib.Event) { e.RawJSON("k", raw) },
		"error": func(e *nib.Event) { e.AnErr("k", err) },
	} {
		if got := value(t, add); got == nil || got.depth() > 32 {
			t.Errorf("%s\n got %s", name, got)
		}
	}
}

func TestErrorCauses(t *testing.T) {
	cause := errors.New("disk full")
	layout := nib.WithLayout(nib.Layout{Error: layout.ErrorCauses})
	for _, x := range []struct {
		err  error
		want string
	}{
		{cause, "(nothing)"},
		{fmt.Errorf("save: %w", fmt.Errorf("write: %w", cause)), `["write: disk full","disk full"]`},
		{errors.Join(cause, errAny), `["disk full","broken"]`},
		{fmt.Errorf("%w and %w", cause, errAny), `["disk full","broken"]`},
	} {
		l, c := newCapture(t, layout)
		l.Info().Err(x.err).Send()
		line := c.one()
		if got := line.get("error_causes").String(); got != x.want || line.get("error").text != x.err.Error() {
			t.Errorf("%v\n got %s", x.err, line)
		}
	}
}

func TestErrorsThatContainEachOtherAreCutOff(t *testing.T) {
	l, c := newCapture(t, nib.WithLayout(nib.Layout{Error: layout.ErrorCauses}))
	watch(t, func() { l.Info().Err(&joinCycle{}).Send() })
	if got := c.one().get("error_causes"); got == nil || len(got.kids) > 100 {
		t.Errorf("got %s", got)
	}
}
