// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
)

// hostile lists texts that try to control a terminal or mislead a reader.
var hostile = func() []string {
	list := []string{
		"\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x9b31m", "\x80",
		"\u009b31m", "\u0085next",
		"a\n15:04:05.000 INFO  forged", "a\r15:04:05.000 INFO  forged", "a\r\n    │ forged",
		"\u2028forged", "\u2029forged", "user\u202e\u2066txt.exe", "\ufeffbom", "\x00", "\x7f\x7f", "\xff\xfe",
		"\xed\xa0\x80", "x\" forged=\"1", "x forged=1", "forged=1", "", " ", "\"", "\\", `\`, `\u001b[31m`, "{a=1}", "[1 2]", "42", "true", "null",
		"a\u00a0forged=1", "a\u3000b", "\t\tindented",
	}
	for c := range 0xa0 {
		list = append(list, "a"+string(rune(c))+"b")
	}
	return list
}()

// sgrCodes lists all control sequences that the package writes.
var sgrCodes = []string{sgrReset, sgrDim, sgrBold, sgrKey, sgrLogger, sgrError, sgrTrace, sgrDebug, sgrInfo, sgrWarn, sgrErrorTag, sgrFatal}

var (
	plainSink = New(new(bytes.Buffer), Config{Color: ColorNever, TimeZone: time.UTC})
	colorSink = New(new(bytes.Buffer), Config{Color: ColorAlways, TimeZone: time.UTC})

	narrowSink = New(new(bytes.Buffer), Config{Color: ColorAlways, TimeZone: time.UTC, Width: 50})
)

// checkSafe fails t unless line is shown as one line and blocks of visible
// characters, with and without colours.
func checkSafe(t *testing.T, line []byte) (shown string) {
	t.Helper()
	given := bytes.Clone(line)
	shown = string(plainSink.Render(nil, line))
	if !bytes.Equal(line, given) {
		t.Errorf("%q: the line was changed to %q", given, line)
	}
	if !utf8.ValidString(shown) {
		t.Errorf("%q: shown as %q: not valid UTF-8", line, shown)
	}
	for _, r := range strings.ReplaceAll(shown, "\n", "") {
		if !visible(r) {
			t.Errorf("%q: shown as %q: raw %U", line, shown, r)
		}
	}
	rows := strings.Split(shown, "\n")
	if rows[len(rows)-1] != "" {
		t.Errorf("%q: shown as %q: no newline at the end", line, shown)
	}
	for _, row := range rows[1 : len(rows)-1] {
		if !strings.HasPrefix(row, blockMarker) {
			t.Errorf("%q: shown as %q: a line without a marker", line, shown)
		}
	}
	colored := withoutColors(colorSink.Render(nil, line))
	if colored != shown {
		t.Errorf("%q: shown as %q, in colours without them as %q", line, shown, colored)
	}
	narrow := withoutColors(narrowSink.Render(nil, line))
	const further = "\n" + "                     "
	if got, want := oneSpace(strings.ReplaceAll(narrow, further, " ")), oneSpace(shown); got != want {
		t.Errorf("%q: shown as %q in rows, which are together %q, want %q", line, narrow, got, want)
	}
	return shown
}

func withoutColors(shown []byte) string {
	text := string(shown)
	for _, code := range sgrCodes {
		text = strings.ReplaceAll(text, code, "")
	}
	return text
}

var manySpaces = regexp.MustCompile(" +")

func oneSpace(text string) string { return manySpaces.ReplaceAllString(text, " ") }

func TestHostileTextIsHarmlessAs(t *testing.T) {
	var out bytes.Buffer
	for _, tt := range []struct {
		name string
		log  func(l *nib.Logger, text string)
	}{
		{"message", func(l *nib.Logger, s string) { l.Info().Msg(s) }},
		{"key", func(l *nib.Logger, s string) { l.Info().Str(s, "v").Msg("m") }},
		{"value", func(l *nib.Logger, s string) { l.Info().Str("k", s).Msg("m") }},
		{"logger", func(l *nib.Logger, s string) { l.Named(s).Info().Msg("m") }},
		{"error", func(l *nib.Logger, s string) { l.Info().Err(fmt.Errorf("%s", s)).Msg("m") }},
		{"nested key", func(l *nib.Logger, s string) { l.Info().Dict("d", func(e *nib.Event) { e.Str(s, "v") }).Msg("m") }},
		{"nested value", func(l *nib.Logger, s string) { l.Info().Strs("k", []string{s, s}).Msg("m") }},
		{"level", func(l *nib.Logger, s string) {
			l.WithOptions(nib.WithLayout(nib.Layout{LevelName: func(nib.Level) string { return s }})).Info().Msg("m")
		}},
		{"time", func(l *nib.Logger, s string) {
			l.WithOptions(nib.WithLayout(nib.Layout{TimeFormat: strings.ReplaceAll(s, "1", "x") + "2006"})).Info().Msg("m")
		}},
		{"stack", func(l *nib.Logger, s string) {
			l.WithOptions(nib.WithLayout(nib.Layout{StackKey: "-"})).Info().Str("stack", s).Msg("m")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range hostile {
				out.Reset()
				tt.log(nib.New(&out), s)
				checkSafe(t, out.Bytes())
				checkSafe(t, []byte(s))
				checkSafe(t, []byte(`{"message":"`+s+`","k":"`+s+`"}`))
			}
		})
	}
}

// Unquoted text is the logged text; quoted text is its JSON.
func checkText(t *testing.T, text string) {
	t.Helper()
	s := New(new(bytes.Buffer), Config{Color: ColorNever, TimeFormat: nib.OmitKey, Layout: nib.Layout{LevelKey: nib.OmitKey}})
	quoted := jsonenc.AppendString(nil, text)
	for name, line := range map[string]string{
		"message": `{"message":` + string(quoted) + `}`,
		"value":   `{"k":` + string(quoted) + `}`,
		"nested":  `{"k":[` + string(quoted) + `]}`,
		"key":     `{` + string(quoted) + `:0}`,
	} {
		shown := strings.TrimSuffix(string(s.Render(nil, []byte(line))), "\n")
		switch name {
		case "value":
			shown = strings.TrimPrefix(shown, "k=")
		case "nested":
			shown = strings.TrimSuffix(strings.TrimPrefix(shown, "k=["), "]")
		case "key":
			switch text {
			case "time", "level", "message", "logger", "caller", "error":
				continue
			}
			shown = strings.TrimSuffix(shown, "=0")
		}
		text := text
		if name == "message" {
			if text = strings.TrimRight(text, "\r\n"); strings.Contains(text, "\n") {
				continue // shown in a block, see TestRender
			}
		}
		decoded := shown
		if strings.HasPrefix(shown, `"`) {
			if err := json.Unmarshal([]byte(shown), &decoded); err != nil {
				t.Errorf("%s %q is shown as %s: %v", name, text, shown, err)
			}
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); decoded != want && utf8.ValidString(text) {
			t.Errorf("%s %q is shown as %s", name, want, shown)
		}
	}
}

func TestTextIsReadAsText(t *testing.T) {
	for _, s := range hostile {
		checkText(t, s)
	}
	for _, s := range []string{"plain", "two words", "10.0.0.7:5432", "1.5ms", "-", "truely", "nullable", "C:\\new", "q==", "a=b", "阿芳", "é", "🎉"} {
		checkText(t, s)
	}
}

func TestVisibleIsWhatTheEncoderLeaves(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '"' || r == '\\' {
			continue
		}
		escaped := string(jsonenc.AppendString(nil, string(r))) != `"`+string(r)+`"`
		if visible(r) == escaped {
			t.Errorf("%U: visible %v, escaped %v", r, visible(r), escaped)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
		f.Add([]byte(`{"time":"` + s + `","level":"` + s + `","error":"` + s + `","stack":"\n` + s + `","message":"` + s + `"}`))
	}
	for _, s := range []string{`{}`, `{"a":1}x`, `{"a":1`, `{"a":{"b":[1,{"c":"d"}]}} `, ` {"a" : "b" , "c":[ ] }`, `[1]`, `{"time":1767366245123}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		checkSafe(t, line)
		checkText(t, string(line))
		var members map[string]json.RawMessage
		if json.Unmarshal(line, &members) == nil && len(members) > 0 && plainSink.foreign(line) {
			t.Errorf("%q: an object was not recognised", line)
		}
		if !json.Valid(line) && !plainSink.foreign(line) {
			t.Errorf("%q: not JSON, and shown as a line", line)
		}
	})
}

// foreign reports whether line is written unchanged because it is not a JSON
// object.
func (s *Sink) foreign(line []byte) bool {
	p := &painter{view: s.view}
	return !p.split(line)
}

func TestDeepNestingCostsItsLength(t *testing.T) {
	const depth = 9000
	line := `{"a":` + strings.Repeat(`{"b":[`, depth/2) + strings.Repeat(`]}`, depth/2) + `}`
	want := strings.Repeat(" ", 19) + `a=` + strings.Repeat(`{b=[`, depth/2) + strings.Repeat(`]}`, depth/2) + "\n"
	if got := checkSafe(t, []byte(line)); got != want {
		t.Errorf("got %.80q…, want %.80q…", got, want)
	}
}

// The name of a zone is text of the program, which New measures.
func TestZoneWithAnEscapeCharacter(t *testing.T) {
	s := New(new(bytes.Buffer), Config{Color: ColorNever, TimeFormat: "15:04 MST", TimeZone: time.FixedZone("\x1b", 0)})
	got := string(s.Render(nil, []byte(`{"time":"2026-01-02T15:04:05Z","level":"info"}`)))
	if want := "15:04 \\u001b INFO\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
