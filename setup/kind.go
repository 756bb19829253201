// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
)

// A kind is a set of values and how they are written. All sources come down to
// texts, so there is one place that says what is allowed.
type kind struct {
	name string // "is not a …"
	want string // what is allowed

	// set reads text into a field, and reports whether it is one of the values. A
	// list is added to.
	set func(field reflect.Value, text string) bool

	// text writes a field that is set. Nil: the field is a list.
	text func(field reflect.Value) string

	// why says what is wrong with a text in more detail than want. It may be nil.
	why func(text string) error
}

// kinds has all of them by the names that tags use.
func kinds() map[string]kind {
	return map[string]kind{
		"levels":   levels(),
		"level":    stringKind("level", "trace, debug, info, warn, error, panic or fatal, as in \"info+2\"", isLevel),
		"format":   choice("format", append([]string{viewJSON, viewConsole, viewLogfmt}, layoutNames...)...),
		"view":     choice("format of an output", viewJSON, viewConsole, viewLogfmt),
		"to":       choice("kind of output", toStdout, toStderr, toFile, toJournald, toDiscard),
		"compress": choice("way to compress", "gzip"),
		"sync":     choice("sync policy", "never", "flush", "always"),
		"zone":     stringKind("known time zone", "Local, UTC or a name like Europe/Berlin that the system has data for", isZone),
		"text":     stringKind("text", "anything but nothing", func(text string) bool { return text != "" }),
		"switch":   {name: "switch", want: "on or off, true or false, 1 or 0", set: setSwitch, text: textOfSwitch},
		"size":     {name: "size", want: "a number with a unit: 100MB (1000²), 64KiB (1024), 512B", set: setSize, text: textOfSize, why: whySize},
		"duration": {name: "duration", want: "a number with a unit: 100ms, 5s, 1h30m, 7d", set: setDuration, text: textOfDuration},
		"count":    {name: "count", want: "a whole number", set: setCount, text: textOfInt},
		"mode":     {name: "file mode", want: "octal permissions, at least for the owner to read and write: 0640", set: setMode, text: textOfMode},
		"times":    {name: "time of day", want: "times such as 00:00 or 12:30", set: setTimes},
		"fields":   {name: "list of fields", want: "keys and texts: service=shop,region=eu", set: setFields, text: textOfFields},
		"outputs":  {name: "list of outputs"},
	}
}

func stringKind(name, want string, is func(string) bool) kind {
	set := func(field reflect.Value, text string) bool {
		field.SetString(text)
		return is(text)
	}
	return kind{name: name, want: want, set: set, text: reflect.Value.String}
}

// levels are rules, each of which may be wrong in its own way.
func levels() kind {
	parse := func(text string) error { _, err := nib.ParseRules(text); return err }
	k := stringKind("level", "levels, by the names of loggers if need be: warn,db=debug,http.*=error",
		func(text string) bool { return text != "" && parse(text) == nil })
	k.why = parse
	return k
}

// choice is one of some words, in any case.
func choice(name string, words ...string) kind {
	set := func(field reflect.Value, text string) bool {
		text = strings.ToLower(text)
		field.SetString(text)
		return slices.Contains(words, text)
	}
	return kind{name: name, want: either(words), set: set, text: reflect.Value.String}
}

// either lists words: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func isLevel(text string) bool { _, err := nib.ParseLevel(text); return err == nil }
func isZone(text string) bool  { _, err := time.LoadLocation(text); return err == nil && text != "" }

func setSwitch(field reflect.Value, text string) bool {
	s, known := map[string]Switch{"on": SwitchOn, "true": SwitchOn, "1": SwitchOn, "off": SwitchOff, "false": SwitchOff, "0": SwitchOff}[strings.ToLower(text)]
	field.SetInt(int64(s))
	return known
}

func textOfSwitch(field reflect.Value) string {
	switch Switch(field.Int()) {
	case SwitchOn:
		return "on"
	case SwitchOff:
		return "off"
	}
	return strconv.FormatInt(field.Int(), 10) + " as a Switch"
}

// units are those of sizes, longer names first.
var units = []struct {
	name  string
	bytes int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
}

func setSize(field reflect.Value, text string) bool {
	number, unit := strings.ToLower(text), int64(0)
	for _, u := range units {
		if before, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimRight(before, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	field.SetInt(int64(n) * unit)
	return err == nil && (unit > 0 && field.Int()/unit == int64(n) || number == "0")
}

// whySize answers the question that a bare number asks.
func whySize(text string) error {
	if _, err := strconv.ParseUint(text, 10, 63); err != nil {
		return nil
	}
	return fmt.Errorf("%q has no unit (write %sMB, or %sB for bytes)", text, text, text)
}

func textOfSize(field reflect.Value) string { return textOfInt(field) + "B" }

func textOfInt(field reflect.Value) string { return strconv.FormatInt(field.Int(), 10) }

const day = 24 * time.Hour

func setDuration(field reflect.Value, text string) bool {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 63)
		field.SetInt(int64(n) * int64(day))
		return err == nil && n <= uint64(1<<63-1)/uint64(day)
	}
	d, err := time.ParseDuration(text)
	field.SetInt(int64(d))
	return err == nil && d >= 0
}

func textOfDuration(field reflect.Value) string { return time.Duration(field.Int()).String() }

func setCount(field reflect.Value, text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	field.SetInt(int64(n))
	return err == nil
}

func setMode(field reflect.Value, text string) bool {
	n, err := strconv.ParseUint(text, 8, 32)
	field.SetUint(n)
	return err == nil && fs.FileMode(n)&^fs.ModePerm == 0 && n&0o600 == 0o600
}

func textOfMode(field reflect.Value) string { return "0" + strconv.FormatUint(field.Uint(), 8) }

func setTimes(field reflect.Value, text string) bool {
	field.Set(reflect.Append(field, reflect.ValueOf(text)))
	_, err := time.Parse("15:04", text)
	return err == nil
}

func setFields(field reflect.Value, text string) bool {
	fields := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.PathUnescape(key)
		value, valueErr := url.PathUnescape(value)
		if _, twice := fields[key]; !ok || key == "" || twice || keyErr != nil || valueErr != nil {
			return false
		}
		fields[key] = value
	}
	field.Set(reflect.ValueOf(fields))
	return true
}

func textOfFields(field reflect.Value) string {
	var b strings.Builder
	fields := field.Interface().(map[string]string)
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(escape(key) + "=" + escape(fields[key]))
	}
	return b.String()
}

// escape writes what has a meaning in lists of fields and outputs as %XX.
func escape(text string) string {
	return strings.NewReplacer("%", "%25", ",", "%2C", "=", "%3D", "?", "%3F", "&", "%26").Replace(text)
}
