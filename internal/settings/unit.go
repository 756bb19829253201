// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

// A unit is a set of values and their textual form.
type unit struct {
	name  string // "is not a …"
	want  string // describes the allowed values
	words []string
	// Returns errWant if the text is not one of the values.
	set  func(v reflect.Value, text string) error
	text func(v reflect.Value) string
}

// The errors of Set that do not quote the text.
var (
	ErrTwice = errors.New("is set twice")
	errWant  = errors.New("want another text")
)

// units holds the units that tags name. They are made on first use.
var units = sync.OnceValue(func() map[string]unit {
	return map[string]unit{
		"levels": text("level", "levels, by the names of loggers if need be: warn,db=debug,http.*=error", parseRules),
		"level":  text("level", "trace, debug, info, warn, error, panic or fatal, as in \"info+2\"", func(s string) error { _, err := nib.ParseLevel(s); return want(err) }),
		"zone":   text("known time zone", "Local, UTC or a name like Europe/Berlin that the system has data for", parseZone),
		"time":   text("time of day", "times such as 00:00 or 12:30", func(s string) error { _, err := time.Parse("15:04", s); return want(err) }),
		"size":   {name: "size", want: "a number with a unit: 100MB (1000²), 64KiB (1024), 512B", set: setSize, text: func(v reflect.Value) string { return textOfInt(v) + "B" }},
	}
})

// unitOf returns the unit of a field.
func unitOf(f reflect.StructField) unit {
	is := f.Tag.Get("is")
	if u, ok := units()[is]; ok {
		return u
	}
	if words := strings.Split(is, "|"); len(words) > 1 {
		return choice(strings.ReplaceAll(f.Tag.Get("set"), "_", " "), words)
	}
	switch t := f.Type; {
	case t == reflect.TypeFor[time.Duration]():
		return unit{name: "duration", want: "a number with a unit: 100ms, 5s, 1h30m, 7d",
			set: setDuration, text: textOfDuration}
	case t == reflect.TypeFor[fs.FileMode]():
		return unit{name: "file mode",
			want: "octal permissions, at least for the owner to read and write: 0640", set: setMode,
			text: textOfMode}
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Int8:
		return unit{name: "switch", want: "on or off, true or false, 1 or 0", set: setSwitch,
			text: textOfSwitch}
	case t.Kind() == reflect.Map:
		return unit{name: "list of fields", want: "keys and texts: service=shop,region=eu",
			set: setFields, text: textOfFields}
	case t.Kind() == reflect.Int:
		const most = "a whole number, at most 2147483647"
		return unit{name: "count", want: most, set: setCount, text: textOfInt}
	}
	return text("text", "anything but nothing", func(string) error { return nil })
}

// want replaces an error that adds nothing to the name of the unit.
func want(err error) error {
	if err != nil {
		return errWant
	}
	return nil
}

// text is a unit whose values are texts without an error.
func text(name, allowed string, check func(string) error) unit {
	set := func(v reflect.Value, text string) error {
		v.SetString(text)
		if text == "" {
			return errWant
		}
		return check(text)
	}
	return unit{name: name, want: allowed, set: set, text: reflect.Value.String}
}

// parseRules returns an error also if two rules are for the same names: a
// setting has no earlier rules that a later one could replace.
func parseRules(text string) error {
	rules, err := level.ParseRules(text)
	for i, r := range rules {
		for _, before := range rules[:i] {
			if before.Name == r.Name && before.Below == r.Below && before.Level != r.Level {
				return fmt.Errorf("%s and %s exclude each other: leave one of them out",
					level.Format([]level.Rule{before}), level.Format([]level.Rule{r}))
			}
		}
	}
	return err
}

func parseZone(text string) error { _, err := time.LoadLocation(text); return want(err) }

// choice is one of some words, in any case.
func choice(name string, words []string) unit {
	set := func(v reflect.Value, text string) error {
		text = strings.ToLower(text)
		v.SetString(text)
		if !slices.Contains(words, text) {
			return errWant
		}
		return nil
	}
	return unit{name: name, want: Either(words), words: words, set: set, text: reflect.Value.String}
}

// setSwitch sets a bool, or an int8 that is 1, -1 or, if it is not set, 0.
func setSwitch(v reflect.Value, text string) error {
	on, known := map[string]bool{"on": true, "true": true, "1": true, "off": false, "false": false,
		"0": false}[strings.ToLower(text)]
	switch {
	case !known:
		return errWant
	case v.Kind() == reflect.Bool:
		v.SetBool(on)
	case on:
		v.SetInt(1)
	default:
		v.SetInt(-1)
	}
	return nil
}

func textOfSwitch(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Bool && v.Bool(), v.CanInt() && v.Int() == 1:
		return "on"
	case v.Kind() == reflect.Bool, v.Int() == -1:
		return "off"
	}
	return strconv.FormatInt(v.Int(), 10) + " as a Switch"
}

// multiples are the units of sizes, longer names first.
var multiples = []struct {
	name  string
	bytes int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
}

func setSize(v reflect.Value, text string) error {
	number, factor := strings.ToLower(text), int64(0)
	for _, m := range multiples {
		if before, ok := strings.CutSuffix(number, m.name); ok {
			number, factor = strings.TrimRight(before, " "), m.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	v.SetInt(int64(n) * factor)
	switch {
	case err == nil && factor > 0 && v.Int()/factor == int64(n), number == "0":
		return nil
	case err == nil && factor == 0:
		return fmt.Errorf("%q has no unit (write %sMB, or %sB for bytes)", text, text, text)
	}
	return errWant
}

func textOfInt(v reflect.Value) string { return strconv.FormatInt(v.Int(), 10) }

const day = 24 * time.Hour

func setDuration(v reflect.Value, text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 63)
		if err != nil || n > uint64(math.MaxInt64/day) {
			return errWant
		}
		v.SetInt(int64(n) * int64(day))
		return nil
	}
	d, err := time.ParseDuration(text)
	v.SetInt(int64(d))
	if err != nil || d < 0 {
		return errWant
	}
	return nil
}

func textOfDuration(v reflect.Value) string { return time.Duration(v.Int()).String() }

func setCount(v reflect.Value, text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	v.SetInt(int64(n))
	return want(err)
}

func setMode(v reflect.Value, text string) error {
	n, _ := strconv.ParseUint(text, 8, 32) // 0 or too large on an error
	v.SetUint(n)
	if fs.FileMode(n)&^fs.ModePerm != 0 || n&0o600 != 0o600 {
		return errWant
	}
	return nil
}

func textOfMode(v reflect.Value) string { return "0" + strconv.FormatUint(v.Uint(), 8) }

func setFields(v reflect.Value, text string) error {
	fields := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key, value = strings.Trim(key, blanks), strings.Trim(value, blanks)
		if !ok || key == "" {
			return errWant
		}
		key, keyErr := url.PathUnescape(key)
		value, valueErr := url.PathUnescape(value)
		if keyErr != nil || valueErr != nil {
			return fmt.Errorf("%q: write %%25 for %% and %%2C for a comma in it", Shorten(pair))
		}
		if _, twice := fields[key]; twice {
			return fmt.Errorf("the field %q is set twice", Shorten(key))
		}
		fields[key] = value
	}
	v.Set(reflect.ValueOf(fields))
	return nil
}

func textOfFields(v reflect.Value) string {
	var b strings.Builder
	fields := v.Interface().(map[string]string)
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(escapeEnds(key) + "=" + escapeEnds(fields[key]))
	}
	return b.String()
}

// blanks are ignored around the keys and texts of fields.
const blanks = " \t\r\n"

// escapeEnds is Escape, also for a text that begins or ends with blanks.
func escapeEnds(text string) string {
	escaped := Escape(text)
	if strings.Trim(text, blanks) == text {
		return escaped
	}
	return strings.NewReplacer(" ", "%20", "\t", "%09", "\r", "%0D", "\n", "%0A").Replace(escaped)
}
