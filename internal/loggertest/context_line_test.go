// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
)

// TestCtxAddsEachFieldOnceToRandomLines calls Ctx in random lines, with loggers
// that are related in all ways to the line's logger, and checks that a field is
// there as often as the line or one of the loggers has it: once.
func TestCtxAddsEachFieldOnceToRandomLines(t *testing.T) {
	rounds := seed.Times(20_000, 4000, 800)
	r := rand.New(rand.NewPCG(seed.Of(t), 9))
	for round := range rounds {
		l, c := newCapture(t)
		want, program, keys := map[string]bool{}, "", 0
		log, carried, grouped := relatedLoggers(l, r, &keys)
		has := map[*nib.Logger]bool{}
		use := func(e *nib.Event) {
			i := r.IntN(len(carried))
			program += fmt.Sprint(" Ctx ", i)
			has[carried[i]] = true
			e.Ctx(nib.NewContext(t.Context(), carried[i]))
		}
		if grouped == 0 && r.IntN(2) == 0 { // With cannot add fields outside of the groups
			program += " With"
			log = log.With(use)
		}
		e := log.Info()
		for range r.IntN(4) {
			switch r.IntN(3) {
			case 0:
				use(e)
			case 1:
				program += " Func"
				e.Func(use)
			default:
				key := "k" + strconv.Itoa(r.IntN(keys+1))
				if _, had := e.Lookup(key); !had && grouped == 0 {
					program += " " + key
					want[key] = true
					e.Str(key, key)
					if r.IntN(2) == 0 {
						use(e)
					}
				}
			}
		}
		e.Msg("m")
		line := c.one()
		for l := range has {
			l.Info().Msg("m")
			fields := c.one()
			for _, key := range fields.keys {
				want[key] = true
			}
		}
		if err := checkKeys(line, want); err != nil {
			t.Errorf("round %d:%s: %v\n got %s", round, program, err, line)
		}
	}
}

// relatedLoggers returns the logger of a line, maybe with a group, and loggers
// of contexts. keys counts their fields.
func relatedLoggers(l *nib.Logger, r *rand.Rand, keys *int) (log *nib.Logger, carried []*nib.Logger, grouped int) {
	bind := func(l *nib.Logger) *nib.Logger {
		for range r.IntN(3) {
			key := "k" + strconv.Itoa(*keys)
			*keys++
			l = l.With(func(e *nib.Event) { e.Str(key, key) })
		}
		return l
	}
	base := bind(l)
	carried = []*nib.Logger{base, bind(base), bind(base), bind(l), bind(l)}
	log, grouped = bind(base), r.IntN(3)
	if grouped > 0 {
		log = log.WithGroup("g")
	}
	if grouped > 1 {
		log = bind(log)
		carried = append(carried, log)
		log = bind(log)
	}
	return log, carried, grouped
}

// checkKeys checks that a line has the wanted keys, and none of its keys twice.
func checkKeys(line *node, want map[string]bool) error {
	got := map[string]int{}
	count(line, got)
	for key := range want {
		if countKey(line, key) == 0 {
			return fmt.Errorf("%s is not at the top of the line", key)
		}
	}
	for key, n := range got {
		if n > 1 {
			return fmt.Errorf("%s is there %d times", key, n)
		}
	}
	return nil
}

func count(v *node, keys map[string]int) {
	for i, k := range v.keys {
		keys[k]++
		count(v.kids[i], keys)
	}
}

type forgedError struct {
	Error string `json:"error"`
	Err   string `json:"err"`
}

// An error that the context's logger has reserves its keys as one of the line.
func TestCtxReservesTheKeysOfAnErrorOfTheCarriedLogger(t *testing.T) {
	failed := func(e *nib.Event) { e.Err(errors.New("real")) }
	for name, layout := range map[string]nib.Layout{"default": {}, "of its own": {ErrorKey: "err"}} {
		key := layout.ErrorKey
		if key == "" {
			key = "error"
		}
		forge := func(e *nib.Event) { e.Str(key, "forged") }
		l, c := newCapture(t, nib.WithLayout(layout))
		other, _ := newCapture(t, nib.WithLayout(layout))
		third, _ := newCapture(t, nib.WithLayout(nib.Layout{ErrorKey: "cause"}))
		for kind, carried := range map[string]*nib.Logger{
			"derived": l.With(failed), "with fields": l.With(forge).With(failed).With(forge), "other": other.With(failed),
			"forged before": l.With(func(e *nib.Event) { e.Str(key, "forged").Err(errors.New("real")) }),
			"group":         l.With(failed).WithGroup("h").With(forge),
		} {
			ctx := nib.NewContext(t.Context(), carried)
			for way, log := range map[string]func(){
				"after":         func() { l.Info().Ctx(ctx).Str(key, "forged").Msg("m") },
				"before":        func() { l.Info().Str(key, "forged").Ctx(ctx).Msg("m") },
				"bound":         func() { l.With(forge).Info().Ctx(ctx).Msg("m") },
				"bound by Ctx":  func() { l.With(func(e *nib.Event) { e.Ctx(ctx) }).Info().Str(key, "forged").Msg("m") },
				"LogAttrs":      func() { l.LogAttrs(ctx, nib.LevelInfo, "m", attrs([]string{key})...) },
				"Inline":        func() { nib.Inline(l.Info().Ctx(ctx), forgedError{"forged", "forged"}).Str(key, "forged").Msg("m") },
				"before group":  func() { l.With(forge).WithGroup("g").Info().Ctx(ctx).Int("n", 1).Msg("m") },
				"twice":         func() { l.Info().Ctx(ctx).Ctx(ctx).Str(key, "forged").Msg("m") },
				"in a function": func() { l.Info().Func(func(e *nib.Event) { e.Ctx(ctx) }).Fields(fieldMap([]string{key})).Msg("m") },
			} {
				log()
				line := c.one()
				if countKey(line, key) != 1 || line.get(key).text != "real" || countKey(line, "field."+key) == 0 {
					t.Errorf("layout %s, %s, %s: the error is forged or missing\n got %s", name, kind, way, line)
				}
			}
		}
		ctx := nib.NewContext(t.Context(), third.With(func(e *nib.Event) { e.Str(key, "forged").Err(errors.New("other")) }))
		l.Info().Ctx(ctx).Err(errors.New("real")).Msg("m")
		if line := c.one(); countKey(line, key) != 1 || line.get(key).text != "real" || line.get("cause").String() != `"other"` {
			t.Errorf("layout %s, an error under another key: the error is forged or missing\n got %s", name, line)
		}
	}
}
