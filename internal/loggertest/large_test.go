// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/schema"
)

// lattice returns a value of 16 levels: make makes each value of a level from
// the four of the next one. It is small in memory and of 4 to the 16 leaves as
// text.
func lattice[T any](make func(next []T) T) T {
	var next []T
	for range 16 {
		var level []T
		for range 4 {
			level = append(level, make(next))
		}
		next = level
	}
	return next[0]
}

type latticeStruct struct {
	Name string
	Next []*latticeStruct
}

type latticePair struct{ A, B, C, D *latticePair }

type latticeMarshaler struct{ next []*latticeMarshaler }

func (m *latticeMarshaler) MarshalNib(e *nib.Event) {
	for _, next := range m.next {
		e.Object("next", next)
	}
}

type latticeValuer struct{ next []*latticeValuer }

func (v *latticeValuer) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, next := range v.next {
		attrs = append(attrs, slog.Any("next", next))
	}
	return slog.GroupValue(append(attrs, slog.Int("n", len(attrs)))...)
}

// keyedLattice returns a map of the values of next, with few keys or many.
func keyedLattice[T any](next []T, more int) map[string]any {
	m := map[string]any{}
	for i := range more {
		m[strings.Repeat("m", i+1)] = i
	}
	for i, v := range next {
		m[strings.Repeat("k", i+1)] = v
	}
	return m
}

var lattices = []struct {
	name  string
	value any
}{
	{"structs", lattice(func(next []*latticeStruct) *latticeStruct {
		return &latticeStruct{"name", next}
	})},
	{"pointers", lattice(func(next []*latticePair) *latticePair {
		if next == nil {
			return new(latticePair)
		}
		return &latticePair{next[0], next[1], next[2], next[3]}
	})},
	{"slices", lattice(func(next []any) any { return append([]any{"leaf"}, next...) })},
	{"maps", lattice(func(next []map[string]any) map[string]any { return keyedLattice(next, 0) })},
	{"large maps", lattice(func(next []map[string]any) map[string]any {
		return keyedLattice(next, 40)
	})},
	{"maps of other types", lattice(func(next []any) any {
		m := map[int]any{}
		for i, v := range next {
			m[i] = v
		}
		return m
	})},
	{"a slice of one text", func() any {
		text, list := strings.Repeat("text", 1<<15), make([]*string, 1<<15)
		for i := range list {
			list[i] = &text
		}
		return list
	}()},
	{"Marshalers", lattice(func(next []*latticeMarshaler) *latticeMarshaler {
		return &latticeMarshaler{next}
	})},
	{"LogValuers", lattice(func(next []*latticeValuer) *latticeValuer {
		return &latticeValuer{next}
	})},
	{"attributes", lattice(func(next []slog.Attr) slog.Attr {
		return slog.Attr{Key: "g", Value: slog.GroupValue(append(next, slog.Int("n", 1))...)}
	})},
}

// A value that is small in memory and without end as text ends.
func TestValuesInWhichMuchIsSharedEnd(t *testing.T) {
	for _, l := range seed.Some(t, 4, lattices) {
		t.Run(l.name, func(t *testing.T) {
			var buf bytes.Buffer
			const limit = 1 << 16
			log := nib.New(&buf, nib.WithMaxLine(limit))
			check := func(entrance string) {
				t.Helper()
				var line map[string]any
				if err := json.Unmarshal(buf.Bytes(), &line); err != nil {
					t.Errorf("%s: %v", entrance, err)
				}
				whole := line["message"] == "m" && line["last"] == 1.0
				if buf.Len() > limit || line["truncated"] == nil || !whole {
					t.Errorf("%s: got %d bytes, truncated %v, message %v, last %v", entrance,
						buf.Len(), line["truncated"], line["message"], line["last"])
				}
				buf.Reset()
			}
			log.Info().Any("v", l.value).Int("last", 1).Msg("m")
			check("Any")
			nib.Val(log.Info(), "v", []any{l.value, l.value}).Int("last", 1).Msg("m")
			check("Val")
			nib.Inline(log.Info(), struct{ V, W any }{l.value, l.value}).Int("last", 1).Msg("m")
			check("Inline")
			log.Info().Dict("d", func(e *nib.Event) { e.Any("v", l.value) }).Int("last", 1).Msg("m")
			check("Dict")
			log.Info().Array("d", func(a *nib.Array) { a.Any(l.value) }).Int("last", 1).Msg("m")
			check("Array")
			log.With(func(e *nib.Event) { e.Any("v", l.value) }).Info().Int("last", 1).Msg("m")
			check("With")
			log.LogAttrs(context.Background(), nib.LevelInfo, "m",
				slog.Any("v", l.value), slog.Int("last", 1))
			check("LogAttrs")
		})
	}
}

// Without a limit of their own, lines and codecs have one of 64 MiB.
func TestValuesEndWithoutMaxLine(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it makes lines of 64 MiB")
	}
	var buf bytes.Buffer
	log := nib.New(&buf)
	for _, l := range lattices {
		if l.name != "structs" && l.name != "maps" && l.name != "Marshalers" {
			continue // a line takes a second
		}
		buf.Reset()
		log.Info().Any("v", l.value).Msg("m")
		if n := buf.Len(); n > 64<<20 || !bytes.Contains(buf.Bytes()[n-40:], []byte(`"truncated":`)) {
			t.Errorf("%s: got %d bytes that end in %s", l.name, n, buf.Bytes()[n-40:])
		}
		if _, ok := l.value.(nib.Marshaler); ok {
			continue // in a codec, a struct without fields
		}
		var large *schema.Error
		if _, err := schema.AppendAny(nil, l.value); !errors.As(err, &large) ||
			!strings.HasSuffix(err.Error(), "larger than 64 MiB") {
			t.Errorf("%s: got error %v from AppendAny", l.name, err)
		}
	}
}
