// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

func TestSecretIsNotShown(t *testing.T) {
	const hidden = "hunter2"
	type account struct {
		Name     string
		Password nib.Secret[string]
	}
	type within struct{ unexported nib.Secret[string] }
	s := nib.NewSecret(hidden)
	a := account{"Ada", s}
	outputs := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%08.3f", "%c", "%U"} {
		outputs["fmt "+verb] = fmt.Sprintf(verb+verb+verb+verb, s, &s, a, []any{a, &a, map[string]any{"s": s}})
		outputs["unexported "+verb] = fmt.Sprintf(verb+verb, within{s}, &within{s})
	}
	for name, v := range map[string]any{"value": s, "pointer": &s, "struct": a, "map": map[string]any{"s": s}, "slice": []nib.Secret[string]{s}} {
		text, err := json.Marshal(v)
		outputs["json "+name] = string(text)
		if !bytes.Contains(text, []byte(`"***"`)) {
			t.Errorf("json %s: got %s, %v, want *** in it", name, text, err)
		}
		text, _ = xml.Marshal(v)
		outputs["xml "+name] = string(text)
		var buf bytes.Buffer
		_ = gob.NewEncoder(&buf).Encode(v)
		outputs["gob "+name] = buf.String()
		buf.Reset()
		l := timeless(&buf)
		l.Info().Any("k", v).Fields(map[string]any{"f": v}).Attrs(slog.Any("a", v)).Msgf("%v %+v", v, v)
		nib.Val(l.Info(), "k", v).Send()
		l.LogAttrs(t.Context(), nib.LevelInfo, "m", slog.Any("k", v), slog.Group("g", slog.Any("k", v)))
		slog.New(slog.NewTextHandler(&buf, nil)).Info("m", "k", v)
		slog.New(slog.NewJSONHandler(&buf, nil)).Info("m", "k", v)
		outputs["nib "+name] = buf.String()
		if n := strings.Count(buf.String(), "***"); n < 8 {
			t.Errorf("%s: got *** %d times in\n%s", name, n, buf.String())
		}
	}
	var buf bytes.Buffer
	nib.Val(timeless(&buf).Info().Stringer("s", s), "k", a).Send()
	nib.Inline(timeless(&buf).Info(), a).Send()
	logOnce(timeless(&buf), nib.LevelInfo, "m", &a)
	outputs["nib typed"] = buf.String()
	for name, text := range outputs {
		if strings.Contains(text, hidden) || strings.Contains(text, fmt.Sprintf("%x", hidden)) || strings.Contains(text, fmt.Sprintf("%X", hidden)) {
			t.Errorf("%s shows the secret: %s", name, text)
		}
	}
	if got := s.Reveal(); got != hidden {
		t.Errorf("got %q, want %q", got, hidden)
	}
	if got := (nib.Secret[int]{}).Reveal(); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

// Each verb that fmt knows and each that it does not, with flags, of values of
// each kind, wherever a Secret may stand in another value.
func TestNoVerbShowsASecret(t *testing.T) {
	const hidden = "hunter2"
	type text struct{ Text string }
	hides(t, hidden, nib.NewSecret(hidden))
	hides(t, hidden, nib.NewSecret([]byte(hidden)))
	hides(t, hidden, nib.NewSecret([]string{hidden}))
	hides(t, hidden, nib.NewSecret([1]string{hidden}))
	hides(t, hidden, nib.NewSecret(map[string]string{hidden: hidden}))
	hides(t, hidden, nib.NewSecret(text{hidden}))
	hides(t, hidden, nib.NewSecret(&text{hidden}))
	hides(t, hidden, nib.NewSecret([]text{{hidden}}))
	hides(t, hidden, nib.NewSecret[any](text{hidden}))
	hides(t, hidden, nib.NewSecret(fmt.Errorf("wrong %s", hidden)))
	const digits = "24072407" // part of 7.240724075e+08, and of no aligned address
	hides(t, digits, nib.NewSecret(724072407))
	hides(t, digits, nib.NewSecret([]int{724072407}))
	hides(t, digits, nib.NewSecret(map[int]float64{724072407: 724072407.5}))
}

func hides[T any](t *testing.T, hidden string, s nib.Secret[T]) {
	t.Helper()
	type exported struct{ Secret nib.Secret[T] }
	type unexported struct{ secret nib.Secret[T] }
	type embedded struct{ nib.Secret[T] }
	type inner struct{ unexported }
	forms := map[string]any{
		"value": s, "pointer": &s, "any": any(s), "slice": []nib.Secret[T]{s},
		"array": [1]nib.Secret[T]{s}, "map": map[string]nib.Secret[T]{"k": s},
		"exported": exported{s}, "unexported": unexported{s}, "embedded": embedded{s},
		"inner": inner{unexported{s}}, "pointer to unexported": &unexported{s},
		"slice of unexported": []unexported{{s}}, "map of unexported": map[int]unexported{1: {s}},
		"unexported any":     struct{ v any }{s},
		"unexported pointer": struct{ v *nib.Secret[T] }{&s},
	}
	hexOf := fmt.Sprintf("%x", hidden)
	for verb := rune('A'); verb <= 'z'; verb++ {
		if verb == '[' || verb == '\\' || verb == ']' { // [ begins an argument index
			continue
		}
		for _, flags := range []string{"", "+", "#", "-", " ", "0", "20", ".3", "+#", "# "} {
			for name, v := range forms {
				got := fmt.Sprintf("%"+flags+string(verb), v)
				if strings.Contains(got, hidden) || strings.Contains(strings.ToLower(got), hexOf) {
					t.Errorf("%T, %s, %%%s%c: %s", s, name, flags, verb, got)
				}
			}
		}
	}
}
