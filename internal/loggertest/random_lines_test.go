// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
)

// A variant is a logger of the test of random lines, and the properties of its
// lines.
type variant struct {
	name   string
	log    *nib.Logger
	layout nib.Layout
	own    []string // keys of a full line, without the error's
	words  []string // keys of a full line
	exact  bool     // nothing is redacted or cut
	max    int
}

// variants are all layouts, in both orders, with all policies for duplicate
// keys, with and without redaction and limits.
func variants(out *bytes.Buffer) (all []*variant) {
	layouts := map[string]nib.Layout{
		"ECS": layout.ECS(), "GCP": layout.GCP(), "Datadog": layout.Datadog(), "OTel": layout.OTel(),
		"Zap": layout.Zap(), "Zerolog": layout.Zerolog(), "Logrus": layout.Logrus(), "Slog": layout.Slog(),
	}
	for i, l := range modelLayouts {
		layouts[fmt.Sprintf("custom %d", i)] = l
	}
	for name, l := range inOrder(layouts) {
		for _, first := range []bool{false, true} {
			l.MessageFirst = first
			for _, policy := range []nib.DuplicateKeys{nib.DuplicatesKeep, nib.DuplicatesLastWins, nib.DuplicatesFirstWins, nib.DuplicatesRename} {
				for _, redact := range []bool{false, true} {
					for _, limit := range []int{0, 300, 2000} {
						opts := []nib.Option{nib.WithLayout(l), nib.WithLevel(nib.LevelTrace * 100), nib.WithClock(func() time.Time { return testTime }),
							nib.WithDuplicateKeys(policy), nib.WithMaxLine(limit), nib.WithCaller(), nib.WithStack(nib.LevelFatal)}
						if redact {
							opts = append(opts, nib.WithRedact("user_id", "a", "password"))
						}
						v := &variant{name: fmt.Sprintf("%s, first %v, policy %d, redact %v, limit %d", name, first, policy, redact, limit),
							log: nib.New(out, opts...).Named("app"), layout: l, exact: !redact && limit == 0, max: limit}
						v.learn(out)
						all = append(all, v)
					}
				}
			}
		}
	}
	return all
}

// learn finds the keys of a full line.
func (v *variant) learn(out *bytes.Buffer) {
	full := v.log.WithOptions(nib.WithMaxLine(0), nib.WithStack(nib.LevelTrace))
	keysOf := func(log func(e *nib.Event) *nib.Event) []string {
		out.Reset()
		log(full.Info()).Msg("m")
		line, err := (&strictParser{src: string(bytes.TrimSpace(out.Bytes()))}).document()
		if err != nil {
			panic(err)
		}
		return line.keys
	}
	v.own = keysOf(func(e *nib.Event) *nib.Event { return e })
	v.words = append(keysOf(func(e *nib.Event) *nib.Event { return e.Err(fmt.Errorf("a: %w", errAny)) }), "a", "b", "user_id", "error", "field.time", "truncated")
	out.Reset()
}

// write logs one random line and returns its level and message.
func (v *variant) write(code []byte) (level nib.Level, msg string) {
	m := &machine{code: code, words: v.words}
	l, obj := v.log, &node{kind: '{'}
	for n := m.next() % 3; n > 0; n-- {
		l = l.With(func(e *nib.Event) { m.fields(e, obj, true, 1) })
	}
	if m.next()%4 == 0 {
		l = l.WithGroup(m.text())
	}
	level, msg = nib.Level(m.next()%40-12), m.text()
	e := l.At(level)
	m.fields(e, obj, true, 1)
	m.finish(e, msg)
	return level, msg
}

// check reads a line with two parsers and looks for nib's own keys under which
// something else was written.
func (v *variant) check(line []byte, level nib.Level, msg string) error {
	got, err := parseLine(line)
	if err != nil {
		return err
	}
	keys, err := keysByStandardLibrary(line)
	if err != nil {
		return fmt.Errorf("encoding/json: %w", err)
	}
	if !slices.Equal(keys, got.keys) {
		return fmt.Errorf("the parsers read different keys: %q and %q", keys, got.keys)
	}
	for _, key := range v.own {
		if n := countKey(got, key); n > 1 {
			return fmt.Errorf("key %q stands there %d times", key, n)
		}
	}
	or := func(key, standard string) string {
		if key == "" {
			return standard
		}
		return key
	}
	name := level.String()
	if v.layout.LevelName != nil {
		name = v.layout.LevelName(level)
	}
	if n := got.get(or(v.layout.LevelKey, "level")); n == nil || n.text != name {
		return fmt.Errorf("the level is %s, want %s", n, name)
	}
	if got.get(or(v.layout.TimeKey, "time")) == nil || got.get(or(v.layout.LoggerKey, "logger")) == nil {
		return errors.New("the time or the logger is missing")
	}
	if n := got.get(or(v.layout.MessageKey, "message")); v.exact && (n == nil || n.text != decoded(msg)) {
		return fmt.Errorf("the message is %s, want %q", n, msg)
	}
	return nil
}

// keysByStandardLibrary is the second parser: encoding/json, with a check for
// the faults that it accepts.
func keysByStandardLibrary(line []byte) (keys []string, err error) {
	if !utf8.Valid(line) {
		return nil, errors.New("not UTF-8")
	}
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	_, err = d.Token()
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		key, err = d.Token()
		keys = append(keys, key.(string))
		err = errors.Join(err, d.Decode(&value))
	}
	return keys, err
}

// TestRandomLinesAreValidAndNotForged writes random lines, a million of them if
// all cases run.
func TestRandomLinesAreValidAndNotForged(t *testing.T) {
	lines := seed.Times(1_000_000, 8_000, 2_000)
	var out bytes.Buffer
	all := variants(&out)
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	bad, size := 0, 0
	code := make([]byte, 500)
	for i := range lines {
		v := all[i%len(all)]
		code = code[:10+r.IntN(300)]
		for j := range code {
			code[j] = byte(r.Uint32())
		}
		out.Reset()
		level, msg := v.write(code)
		size += out.Len()
		if err := v.check(out.Bytes(), level, msg); err != nil {
			if bad++; bad < 20 {
				t.Errorf("%s, program %x: %v\nline: %.3000q", v.name, code, err, out.Bytes())
			}
		}
	}
	t.Logf("%d lines of %d variants of a logger, %d bytes each, read by two parsers: %d invalid or forged", lines, len(all), size/lines, bad)
}
