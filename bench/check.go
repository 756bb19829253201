// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/bench/measure"
)

// An Exception is a known and permitted difference between a peer's line and
// the scenario's. The documentation lists exceptions.
type Exception struct {
	Peer, Scenario string
	// The key that may differ, be missing or be extra; if empty, the whole
	// line.
	Key    string
	Reason string
}

// Exceptions is the table of all exceptions. The test fails if one of them is
// no longer needed.
var Exceptions = []Exception{
	{Peer: "slog", Scenario: "Caller", Key: "function", Reason: "also writes the function's name"},
	{Peer: "phuslu", Scenario: "Caller", Key: "callerfunc",
		Reason: "also writes the function's name"},
	{Peer: "phuslu", Scenario: "Caller", Key: "goid", Reason: "also writes the goroutine's number"},
	{Peer: "phuslu", Scenario: "Escapes",
		Reason: "is not JSON: control characters go out as they are"},
	{Peer: "logrus", Scenario: "Caller", Key: "func", Reason: "also writes the function's name"},
}

// aliases gives the canonical name of a key.
var aliases = map[string]string{"ts": "time", "@timestamp": "time", "msg": "message",
	"@message": "message", "@level": "level", "source": "caller", "file": "caller"}

// exceptedKeys returns the keys that may differ. If "" is among them, the peer
// is timed and shown, but the others are not compared with it.
func exceptedKeys(scenario, peer string) map[string]bool {
	keys := map[string]bool{}
	for _, e := range Exceptions {
		if e.Scenario == scenario && e.Peer == peer {
			keys[e.Key] = true
		}
	}
	return keys
}

// Same returns a function that compares a text with the wanted JSON object, as
// it is compared in the calls. A contestant that stands aside must write
// nothing.
func Same(want string) func(c *measure.Contestant, text []byte) error {
	return func(c *measure.Contestant, text []byte) error {
		if c.Aside {
			return measure.Only(nil)(c, text)
		}
		line := append(bytes.TrimSuffix(text, []byte{'\n'}), '\n')
		return compare(want, "", &Peer{DurationUnit: time.Nanosecond}, line)
	}
}

// compare returns an error if the line of p in a scenario is not the wanted
// line.
func compare(wanted, scenario string, p *Peer, line []byte) error {
	if wanted == "" {
		return measure.Only(nil)(nil, line)
	}
	except := exceptedKeys(scenario, p.Name)
	want, err := canonical([]byte(wanted), "", time.Nanosecond)
	if err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	unit := p.DurationUnit
	if scenario == "SlogFront" && p.SlogUnit != 0 {
		unit = p.SlogUnit
	}
	if i := bytes.IndexByte(line, '\n'); i < 0 || i != len(line)-1 {
		return fmt.Errorf("prints %q, want one line", line)
	}
	got, err := canonical(line, p.Name+".go", unit)
	if err != nil {
		if except[""] {
			return nil
		}
		return fmt.Errorf("line %q: %w", line, err)
	}
	return differences(got, want, except)
}

// differences returns an error that names the keys whose values differ, or an
// exception that is not needed.
func differences(got, want map[string]any, except map[string]bool) error {
	used := map[string]bool{}
	var errs []error
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch {
		case reflect.DeepEqual(got[key], want[key]):
		case except[key], except[""]:
			used[key] = true
		default:
			errs = append(errs, fmt.Errorf("%s: got %#v, want %#v", key, got[key], want[key]))
		}
	}
	if len(used) < len(except) {
		errs = append(errs, errors.New("an exception is in the table that is not needed"))
	}
	return errors.Join(errs...)
}

// canonical parses one line and removes the differences that peers may choose:
// names of the reserved keys, case of the level, unit of durations, precision
// of times, shape of the call site (which must be in the adapter's own file),
// notation of numbers.
func canonical(line []byte, file string, unit time.Duration) (map[string]any, error) {
	out := map[string]any{}
	err := decode(line, func(key string, v any) error {
		name := cmp.Or(aliases[key], key)
		if name == "caller" {
			v = flattenSource(v, out)
		}
		if _, twice := out[name]; twice {
			return fmt.Errorf("key %q stands twice", name)
		}
		out[name] = canonicalValue(name, v, file, unit)
		return nil
	})
	return out, err
}

// decode parses one object, and calls add for each of its members: a map would
// hide a duplicate key.
func decode(line []byte, add func(key string, v any) error) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("begins with %v, %v", open, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := add(key.(string), v); err != nil { // the decoder accepts only strings as keys
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one line")
	}
	return nil
}

// flattenSource turns slog's source object into "file:line" and moves its other
// members up to the line.
func flattenSource(v any, out map[string]any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for key, sub := range m {
		if key != "file" && key != "line" {
			out[key] = sub
		}
	}
	return fmt.Sprintf("%v:%v", m["file"], m["line"])
}

var callSite = regexp.MustCompile(`([a-z]+\.go):[0-9]+$`)

func canonicalValue(key string, v any, file string, unit time.Duration) any {
	text, isText := v.(string)
	took, isNumber := v.(json.Number)
	switch {
	case key == "time" && isText:
		if t, err := time.Parse(time.RFC3339, text); err == nil && time.Since(t).Abs() < time.Hour {
			return "now"
		}
	case key == "level" && isText:
		return strings.ToLower(text)
	case key == "caller" && isText:
		if m := callSite.FindStringSubmatch(text); m != nil && m[1] == file {
			return "here"
		}
	case key == "started" && isText:
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	case key == "took" && isNumber:
		return fraction(took, int64(unit))
	}
	return plain(v)
}

// A number is the value of a number, however it is written.
type number string

func fraction(v json.Number, times int64) any {
	r, ok := new(big.Rat).SetString(v.String())
	if !ok {
		return v
	}
	return number(r.Mul(r, new(big.Rat).SetInt64(times)).RatString())
}

// plain replaces the numbers in a value.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = plain(member)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		return fraction(v, 1)
	}
	return v
}
