// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
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
)

// An Exception is a known and permitted difference between a peer's line and
// the scenario's. The documentation lists exceptions.
type Exception struct {
	Peer, Scenario string
	Key            string // the key that may differ, be missing or be extra; if empty, the whole line
	Reason         string
}

// Exceptions is the table of all exceptions. The test fails if one of them is
// no longer needed.
var Exceptions = []Exception{
	{Peer: "slog", Scenario: "Caller", Key: "function", Reason: "also writes the function's name"},
	{Peer: "phuslu", Scenario: "Caller", Key: "callerfunc", Reason: "also writes the function's name"},
	{Peer: "phuslu", Scenario: "Caller", Key: "goid", Reason: "also writes the goroutine's number"},
	{Peer: "phuslu", Scenario: "Escapes", Reason: "is not JSON: control characters go out as they are"},
	{Peer: "logrus", Scenario: "Caller", Key: "func", Reason: "also writes the function's name"},
}

// aliases gives the canonical name of a key.
var aliases = map[string]string{"time": "time", "ts": "time", "msg": "message", "source": "caller", "file": "caller"}

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

// compare returns an error if the line of p in a scenario is not the wanted
// line.
func compare(wanted, scenario string, p *Peer, line []byte) error {
	if wanted == "" {
		if len(line) > 0 {
			return fmt.Errorf("prints %q, want no line", line)
		}
		return nil
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
	got, err := canonical(line, p.File, unit)
	if err != nil {
		if except[""] {
			return nil
		}
		return fmt.Errorf("line %q: %w", line, err)
	}
	used := map[string]bool{}
	var diffs []string
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch {
		case reflect.DeepEqual(got[key], want[key]):
		case except[key], except[""]:
			used[key] = true
		default:
			diffs = append(diffs, fmt.Sprintf("%s: got %v, want %v", key, got[key], want[key]))
		}
	}
	if len(used) < len(except) {
		diffs = append(diffs, "an exception is in the table that is not needed")
	}
	if len(diffs) > 0 {
		return errors.New(strings.Join(diffs, "; "))
	}
	return nil
}

// canonical parses one line and removes the differences that peers may choose:
// names of the reserved keys, case of the level, unit of durations, precision
// of times, shape of the call site (which must be in the adapter's own file),
// notation of numbers.
func canonical(line []byte, file string, unit time.Duration) (map[string]any, error) {
	fields, err := decode(line)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for key, v := range fields {
		name := key
		if a, ok := aliases[key]; ok && !isField(key, v) {
			name = a
		}
		if name == "caller" {
			v = flattenSource(v, out)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("key %q stands twice", name)
		}
		out[name] = canonicalValue(name, v, file, unit)
	}
	return out, nil
}

// decode parses one object key by key: a map would hide a duplicate key.
func decode(line []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if open, err := d.Token(); err != nil {
		return nil, err
	} else if open != json.Delim('{') {
		return nil, fmt.Errorf("begins with %v", open)
	}
	fields := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the decoder accepts only strings as keys
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		fields[key] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one line")
	}
	return fields, nil
}

// isField distinguishes a user's field from a reserved key of the same name:
// the scenario Escapes has a field "file", which is also the key of logrus's
// caller.
func isField(key string, v any) bool {
	text, _ := v.(string)
	return key == "file" && !callSite.MatchString(text)
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
	number, isNumber := v.(json.Number)
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
		if r, ok := new(big.Rat).SetString(number.String()); ok {
			return r.Mul(r, new(big.Rat).SetInt64(int64(unit))).RatString()
		}
	case isNumber:
		if r, ok := new(big.Rat).SetString(number.String()); ok {
			return r.RatString()
		}
	}
	return v
}
