// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
)

func TestNumbersAtTheLimitsOfAnInt64(t *testing.T) {
	for text, want := range map[string]number{
		"9223372036854775807":  {float: 1 << 63, digits: []byte("9223372036854775807")},
		"-9223372036854775807": {float: -1 << 63, digits: []byte("9223372036854775807")},
		"9223372036854775808":  {float: 1 << 63, digits: []byte("9223372036854775808")},
		"9999999999999999999":  {float: 1e19, digits: []byte("9999999999999999999")},
		"18446744073709551617": {float: 1 << 64, digits: []byte("18446744073709551617")}, // 1 in 64 bits
		"9007199254740991.5":   {float: 9007199254740991.5},
		"900719925474099.3":    {float: 900719925474099.3},
		"0.5":                  {float: 0.5},
		"5":                    {float: 5, digits: []byte("5")},
		"+5":                   {float: 5, digits: []byte("5")},
	} {
		if got, ok := parseNumber([]byte(text)); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for c := range 256 { // one of the characters beside the digits is no digit
		text := []byte{'1', byte(c)}
		n, ok := parseNumber(text)
		digit := '0' <= c && c <= '9'
		if ok != (digit || c == '.') || digit && n.float != float64(10+c-'0') {
			t.Errorf("%q: got %+v, %v", text, n, ok)
		}
	}
}

func TestTimesAtTheLeastNumber(t *testing.T) {
	for value, want := range map[string]int64{
		"99999999": 0, "100000000": 1e8, "999999999": 999999999, "2026": 0, "20260": 0,
		"-1": 0, `"9999-12-31T23:59:59Z"`: 253402300799,
	} {
		var l Line
		l.Reset([]byte(`{"time":` + value + "}"))
		at, ok := l.Time()
		if ok != (want != 0) || ok && at.Unix() != want {
			t.Errorf("%s: got %v, %v, want %d", value, at, ok, want)
		}
	}
}

// The least and the greatest number of a level, and their neighbours.
func TestNumbersOfLevels(t *testing.T) {
	const none = nib.Level(-100)
	for form, numbers := range map[string]map[string]nib.Level{
		`{"PRIORITY":"%s"}`: {
			"0": nib.LevelFatal, "7": nib.LevelDebug, "8": none, "/": none,
			"-1": none, "10": none, "": none,
		},
		`{"level":%s}`: {
			"10": nib.LevelTrace, "60": nib.LevelFatal, "0": none, "00": none, "70": none,
			"100": none, "9": none,
		},
		`{"level":"%s"}`: {"10": none},
		`level=%s a=b`:   {"00": none, "10": nib.LevelTrace, "60": nib.LevelFatal, "70": none},
	} {
		for number, want := range numbers {
			var l Line
			l.Reset(fmt.Appendf(nil, form, number))
			level, ok := l.Level()
			if !ok {
				level = none
			}
			if level != want {
				t.Errorf("%s: got %v, want %v", l.Bytes(), level, want)
			}
		}
	}
}

func TestTextsThatBeginWithATimeOrLevel(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-21T12:00:00":                 noon,
		"2026-11-21T13:00:00+01:00":           noon,
		"2026-11-21T13:00:00.000000000+01:00": noon,
		"9026-11-21T12:00:00":                 noon.AddDate(7000, 0, 0),
		"[2026-11-21T12:00:00":                noon,
		":026-11-21T12:00:00":                 {},
	} {
		var l Line
		l.Reset([]byte(text))
		if at, _ := l.Time(); !at.Equal(want) {
			t.Errorf("%q: got %v, want %v", text, at, want)
		}
		l.Reset([]byte(text)[:18]) // the array has the rest
		if at, ok := l.Time(); ok {
			t.Errorf("%q: got %v", text[:18], at)
		}
	}
	for text, want := range map[string]bool{
		"a b c ERROR": true, "a b c d ERROR": false, "| ERROR x": true, "ERR": true, "[ALERT]": true,
		"E": false, "ER": false, "": false, "error": false, "eRROR": false, "Error": false,
	} {
		var l Line
		l.Reset([]byte(text))
		if level, ok := l.Level(); ok != want {
			t.Errorf("%q: got %v, %v, want a level: %v", text, level, ok, want)
		}
	}
}

func TestShortestLines(t *testing.T) {
	for text, want := range map[string]Format{
		"": FormatText, "\n": FormatText, "\r\n": FormatText,
		"{": FormatJSON, " {": FormatJSON, " ": FormatText,
		"x=1 y=2": FormatLogfmt, "a=1 =2": FormatText, "=1 b=2": FormatText,
		"a!b=1 c=2":    FormatLogfmt,
		"a=1 word b=2": FormatLogfmt, "the result x=1 and y=2": FormatText, "t=": FormatLogfmt,
	} {
		var l Line
		l.Reset([]byte(text))
		if l.Format() != want {
			t.Errorf("%q: got %v, want %v", text, l.Format(), want)
		}
	}
	var l Line
	l.Reset([]byte("a=1! b=2"))
	if got, _ := l.Lookup("a"); string(got) != "1!" {
		t.Errorf("got %q, want 1!", got)
	}
	for raw, want := range map[string]string{
		``: "", `"`: `"`, `""`: "", `"a"`: "a", `a`: "a", `"\n"`: "\n",
	} {
		if got := l.Text([]byte(raw)); string(got) != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
	for block, want := range map[string]int{"": 0, "\n": 1, "\nx": 1, "x\ny": 2, "xy": 2} {
		if got := LineLen([]byte(block)); got != want {
			t.Errorf("LineLen(%q): got %d, want %d", block, got, want)
		}
	}
}

// A field that is compared twice counts once.
func TestFieldsOfAQuery(t *testing.T) {
	var parts []string
	for n := range maxFields {
		parts = append(parts, fmt.Sprintf("f%d = 1", n))
	}
	most := strings.Join(parts, " or ") + " or f0 = 2"
	for text, valid := range map[string]bool{most: true, most + " or more = 1": false} {
		if _, err := ParseQuery(text, time.Now()); (err == nil) != valid {
			t.Errorf("%.30s…: got %v, want valid: %v", text, err, valid)
		}
	}
}

func TestDurationsAreThoseOfPackageTime(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	texts := []string{"", "-", "1", "s", "1s", "1.5h", "1h30m", "1m30.25s", "-2ms", "1µs", "1us",
		"1s1", "1 s", "1e3s", "..s", "9999999h", "1x", "0s"}
	texts = append(texts, "9223372036854775808ns", "9223372036854774784ns")
	for range 1000 {
		texts = append(texts, time.Duration(r.Int64N(1<<(10+r.IntN(43)))).String())
	}
	for _, text := range texts {
		want, err := time.ParseDuration(text)
		if got, ok := parseDuration([]byte(text)); ok != (err == nil) || got != want && err == nil {
			t.Errorf("%q: got %v, %v, want %v, %v", text, got, ok, want, err)
		}
	}
}

// Numbers are compared as package big does, at the limits of int64 and float64
// and with zeros in front.
func TestNumbersAreComparedExactly(t *testing.T) {
	texts := []string{
		"0", "-0", "1", "-1", "007", "0000000000000000000000007",
		"9007199254740991", "9007199254740992",
		"9007199254740993", "9223372036854775806", "9223372036854775807", "9223372036854775808",
		"9223372036854775809", "-9223372036854775807", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551614", "18446744073709551615", "18446744073709551616",
		"018446744073709551616", "340282366920938463463374607431768211455",
		"340282366920938463463374607431768211456", "-340282366920938463463374607431768211456",
	}
	for _, a := range texts {
		for _, b := range texts {
			x, okX := parseNumber([]byte(a))
			y, okY := parseNumber([]byte(b))
			wantX, _ := new(big.Int).SetString(a, 10)
			wantY, _ := new(big.Int).SetString(b, 10)
			if got, want := x.compare(y), wantX.Cmp(wantY); !okX || !okY || got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}
