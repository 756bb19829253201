// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib"
)

// hostileTexts are strings that break one logger or another: as a key, as a
// value, as a message.
func hostileTexts() []string {
	texts := []string{
		"", `"`, `\`, `a"b`, `x":1,"admin":true,"y`, "\\u0000", "line\nforged\r\n", "\x1b[2J\x1b]0;title\a",
		"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\xe2\x80", "\u202e\u2066evil\u2069",
		"<script>&</script>", "\u2028\u2029\ufeff", "日本語 ünïcödé 🎉", "\U0010ffff", "\ufffd",
		strings.Repeat("x", 4096), strings.Repeat("\x00", 300), strings.Repeat("é", 65), strings.Repeat("\xff", 65),
	}
	for b := range 0x20 {
		texts = append(texts, string(rune(b)), "seven77"+string(rune(b))+"seven77")
	}
	for r := rune(0x7f); r < 0xa1; r++ {
		texts = append(texts, string(r), "x"+string(r)+"long enough for a word")
	}
	for _, r := range []rune{0x2027, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x202f, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0xfeff} {
		texts = append(texts, string(r), strings.Repeat("a", 13)+string(r)+"z")
	}
	for n := range 35 { // every alignment of something bad in a clean text
		texts = append(texts, strings.Repeat("y", n)+"\n", strings.Repeat("y", n)+"\xff"+strings.Repeat("z", 34-n))
	}
	return texts
}

// decoded is the string that a reader decodes for text.
func decoded(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // one U+FFFD per byte, as Go decodes
		b.WriteRune(r)
	}
	return b.String()
}

func TestHostileKeysAreEscapedLikeValues(t *testing.T) {
	for _, m := range keyed {
		for _, key := range hostileTexts() {
			if m.name == "Attrs" && key == "" {
				continue // slog leaves it out only without a value; see the tests of attributes
			}
			l, c := newCapture(t)
			e := l.Log()
			m.add(e, key)
			e.Send()
			line := c.one()
			if len(line.keys) != 2 || line.keys[1] != decoded(key) {
				t.Errorf("%s with key %q\n got keys %q", m.name, key, line.keys)
			} else if got := line.kids[1].String(); got != m.want {
				t.Errorf("%s with key %q\n got %s\nwant %s", m.name, key, got, m.want)
			}
		}
	}
}

// textual are the ways to add a string to a line.
var textual = []struct {
	name string
	add  func(e *nib.Event, s string)
}{
	{"Str", func(e *nib.Event, s string) { e.Str("k", s) }},
	{"Bytes", func(e *nib.Event, s string) { e.Bytes("k", []byte(s)) }},
	{"Stringer", func(e *nib.Event, s string) { e.Stringer("k", &textStringer{s}) }},
	{"AnErr", func(e *nib.Event, s string) { e.AnErr("k", errors.New(s)) }},
	{"Any string", func(e *nib.Event, s string) { e.Any("k", s) }},
	{"Any error", func(e *nib.Event, s string) { e.Any("k", errors.New(s)) }},
	{"Any named string", func(e *nib.Event, s string) { type named string; e.Any("k", named(s)) }},
	{"Fields", func(e *nib.Event, s string) { e.Fields(map[string]any{"k": s}) }},
	{"Attrs", func(e *nib.Event, s string) { e.Attrs(slog.String("k", s)) }},
	{"EmbedObject", func(e *nib.Event, s string) { e.EmbedObject(marshalFunc(func(e *nib.Event) { e.Str("k", s) })) }},
}

type marshalFunc func(e *nib.Event)

func (f marshalFunc) MarshalNib(e *nib.Event) { f(e) }

func TestHostileValuesAreEscaped(t *testing.T) {
	for _, m := range textual {
		for _, text := range hostileTexts() {
			got := value(t, func(e *nib.Event) { m.add(e, text) })
			if got == nil || got.kind != '"' || got.text != decoded(text) {
				t.Errorf("%s of %q\n got %s", m.name, text, got)
			}
		}
	}
}

func TestHostileElementsAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		want := fmt.Sprintf("%[1]q", decoded(text))
		for name, add := range map[string]func(*nib.Event){
			"Strs":      func(e *nib.Event) { e.Strs("k", []string{text}) },
			"Errs":      func(e *nib.Event) { e.Errs("k", []error{errors.New(text)}) },
			"Stringers": func(e *nib.Event) { e.Stringers("k", stringers(&textStringer{text})) },
			"Array.Str": func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Str(text) }) },
			"Array.Err": func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Err(errors.New(text)) }) },
			"Array.Any": func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Any(text) }) },
			"[]any":     func(e *nib.Event) { e.Any("k", []any{text}) },
		} {
			if got := value(t, add).String(); got != "["+want+"]" {
				t.Errorf("%s of %q\n got %s", name, text, got)
			}
		}
	}
}

func TestHostileKeysOfMapsAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		want := fmt.Sprintf("{%q:1}", decoded(text))
		for name, v := range map[string]any{
			"map[string]any": map[string]any{text: 1},
			"map[string]int": map[string]int{text: 1},
		} {
			if got := value(t, func(e *nib.Event) { e.Any("k", v) }).String(); got != want {
				t.Errorf("%s with key %q\n got %s\nwant %s", name, text, got, want)
			}
		}
	}
}

func TestHostileMessagesAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		for name, log := range map[string]func(*nib.Logger){
			"Msg":      func(l *nib.Logger) { l.Info().Msg(text) },
			"Msgf":     func(l *nib.Logger) { l.Info().Msgf("%s", text) },
			"MsgFunc":  func(l *nib.Logger) { l.Info().MsgFunc(func() string { return text }) },
			"Entry":    func(l *nib.Logger) { l.Entry(nib.Entry{Message: text}).Send() },
			"LogAttrs": func(l *nib.Logger) { l.LogAttrs(context.Background(), nib.LevelInfo, text) },
		} {
			for _, first := range []bool{false, true} {
				l, c := newCapture(t, nib.WithLayout(nib.Layout{MessageFirst: first}))
				log(l.With(func(e *nib.Event) { e.Str("a", "b") }))
				if got := c.one().get("message"); got == nil || got.text != decoded(text) {
					t.Errorf("%s(%q), first %v\n got %s", name, text, first, got)
				}
			}
		}
	}
}

func TestHostileLoggerNamesAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		if text == "" {
			continue
		}
		l, c := newCapture(t, nib.WithLayout(nib.Layout{LevelName: func(nib.Level) string { return text }}))
		l.Named(text).WithGroup(text+"!").Info().Str(text, text).Send()
		line := c.one()
		for _, key := range []string{"level", "logger"} {
			if got := line.get(key); got == nil || got.text != decoded(text) {
				t.Errorf("%s %q\n got %s", key, text, got)
			}
		}
		group := line.get(decoded(text + "!"))
		if group == nil || group.get(decoded(text)) == nil {
			t.Errorf("group %q\n got %s", text, line)
		}
	}
}

func TestHostileLayoutKeysAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		if text == "" {
			continue
		}
		l, c := newCapture(t, nib.WithCaller(), nib.WithLayout(nib.Layout{
			TimeKey: "t" + text, LevelKey: "l" + text, MessageKey: "m" + text, ErrorKey: "e" + text,
			CallerKey: "c" + text, StackKey: "s" + text, LoggerKey: "n" + text, TimeFormat: "2006" + text,
		}))
		l.Named("x").Info().Err(errAny).Stack().Msg("m")
		line := c.one()
		for _, k := range []string{"t", "l", "m", "e", "c", "s", "n"} {
			if line.get(k+decoded(text)) == nil {
				t.Errorf("key %q is missing\n got %s", k+text, line)
			}
		}
	}
}

func TestZonesOfAddressesAreEscaped(t *testing.T) {
	for _, text := range hostileTexts() {
		if text == "" {
			continue
		}
		a := anAddr.WithZone(text)
		got := value(t, func(e *nib.Event) { e.Addr("k", a) })
		if got == nil || got.text != decoded(a.String()) {
			t.Errorf("Addr in zone %q\n got %s", text, got)
		}
		p := netip.AddrPortFrom(a, 80)
		if got := value(t, func(e *nib.Event) { e.AddrPort("k", p) }); got == nil || got.text != decoded(p.String()) {
			t.Errorf("AddrPort in zone %q\n got %s", text, got)
		}
	}
}

// A line with half of a surrogate pair is refused by strict readers.
func TestHalfSurrogatePairsAreReplaced(t *testing.T) {
	const raw = `{"a\ud800":"\udfff","b":["\ud83d\ude42","\ud83dx"]}`
	want := `{"a` + "\ufffd" + `":"` + "\ufffd" + `","b":["🙂","` + "\ufffd" + `x"]}`
	for name, add := range map[string]func(e *nib.Event){
		"RawJSON":     func(e *nib.Event) { e.RawJSON("k", []byte(raw)) },
		"RawMessage":  func(e *nib.Event) { e.Any("k", json.RawMessage(raw)) },
		"MarshalJSON": func(e *nib.Event) { e.Any("k", rawMarshaler(raw)) },
		"Val":         func(e *nib.Event) { nib.Val(e, "k", rawMarshaler(raw)) },
		"Attrs":       func(e *nib.Event) { e.Attrs(slog.Any("k", rawMarshaler(raw))) },
	} {
		if got := value(t, add); got.String() != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

type rawMarshaler string

func (r rawMarshaler) MarshalJSON() ([]byte, error) { return []byte(r), nil }
