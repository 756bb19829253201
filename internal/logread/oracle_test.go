// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// A condition is a query as a tree, which is evaluated on the values that
// package encoding/json decodes from a line.
type condition interface {
	String() string
	holds(line map[string]any) bool
}

type (
	both    [2]condition
	either  [2]condition
	negated [1]condition
	present struct{ path string }
	compare struct {
		path, op, value string
		quoted          bool
	}
)

func (c both) String() string    { return fmt.Sprintf("(%v and %v)", c[0], c[1]) }
func (c either) String() string  { return fmt.Sprintf("(%v or %v)", c[0], c[1]) }
func (c negated) String() string { return fmt.Sprintf("not %v", c[0]) }
func (c present) String() string { return "exists " + name(c.path) }
func (c compare) String() string {
	value := c.value
	if c.quoted {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return name(c.path) + " " + c.op + " " + value
}

// name quotes a path that is not a key.
func name(path string) string {
	if path == "level" || path == "message" || path == "line" {
		return path
	}
	return "`" + path + "`"
}

func (c both) holds(line map[string]any) bool    { return c[0].holds(line) && c[1].holds(line) }
func (c either) holds(line map[string]any) bool  { return c[0].holds(line) || c[1].holds(line) }
func (c negated) holds(line map[string]any) bool { return !c[0].holds(line) }
func (c present) holds(line map[string]any) bool { _, ok := find(line, c.path); return ok }

func find(line map[string]any, path string) (any, bool) {
	if v, ok := line[path]; ok {
		return v, true
	}
	for i, r := range path {
		if r != '.' {
			continue
		}
		if inner, ok := line[path[:i]].(map[string]any); ok {
			if v, ok := find(inner, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

func (c compare) holds(line map[string]any) bool {
	switch c.op {
	case "!=":
		return !compare{c.path, "=", c.value, c.quoted}.holds(line)
	case "!~":
		return !compare{c.path, "~", c.value, c.quoted}.holds(line)
	}
	v, ok := find(line, c.path)
	if !ok {
		return false
	}
	if c.path == "level" {
		names := map[any]nib.Level{"debug": nib.LevelDebug, "info": nib.LevelInfo, "warn": nib.LevelWarn, "error": nib.LevelError}
		got, ok := names[v]
		return ok && ordered(c.op, int(got)-int(names[c.value]))
	}
	text := fmt.Sprint(v)
	if v == nil {
		text = "null"
	}
	switch c.op {
	case "~":
		return regexp.MustCompile(c.value).MatchString(text)
	case "contains":
		return strings.Contains(text, c.value)
	}
	if want, ok := new(big.Rat).SetString(c.value); ok && !c.quoted {
		got, ok := new(big.Rat).SetString(text)
		if !ok || !decimal.MatchString(text) {
			return false
		}
		return ordered(c.op, got.Cmp(want))
	}
	return ordered(c.op, strings.Compare(text, c.value))
}

var decimal = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

func ordered(op string, c int) bool {
	return map[string]bool{"=": c == 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
}

var (
	someKeys   = []string{"a", "b", "a.b", "ä", "level", "k\"x", "o.a", "o.o.b", "message"}
	someTexts  = []string{"", "x", "xy", "é\u2028", `q"uo\te`, "12", "-3", "1.5", "true", "null", "line\nbreak", "0x10", "10 "}
	someNumber = []string{"0", "-0", "1", "-3", "12", "1.5", "1e3", "12.0", "999999999999999999", "1000000000000000001", "0.1", "2.5e-3", "123456.789"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomLine returns JSON, with escape sequences and white space that loggers
// may write, and keys that occur twice.
func randomLine(r *rand.Rand, depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range r.IntN(6) {
		if i > 0 {
			b.WriteByte(',')
		}
		key := pick(r, []string{"a", "b", "a.b", "ä", "k\"x", "o", "c"})
		if depth == 0 && r.IntN(3) == 0 {
			key = "message"
		}
		b.WriteString(quote(r, key) + pick(r, []string{":", ": ", " :\t"}))
		switch k := r.IntN(10); {
		case key == "o" && depth < 3:
			b.WriteString(randomLine(r, depth+1))
		case k < 4:
			b.WriteString(pick(r, someNumber))
		case k < 8:
			b.WriteString(quote(r, pick(r, someTexts)))
		default:
			b.WriteString(pick(r, []string{"true", "false", "null"}))
		}
	}
	if depth == 0 && r.IntN(4) > 0 {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"level":"` + pick(r, []string{"debug", "info", "warn", "error", "other"}) + `"`)
	}
	b.WriteByte('}')
	return b.String()
}

// quote writes a JSON string, with more escape sequences than needed.
func quote(r *rand.Rand, text string) string {
	q, _ := json.Marshal(text)
	if r.IntN(4) > 0 || text == "message" {
		return string(q)
	}
	var b strings.Builder
	for _, c := range text {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return `"` + b.String() + `"`
}

func randomCondition(r *rand.Rand, depth int) condition {
	switch k := r.IntN(10); {
	case depth < 3 && k < 2:
		return both{randomCondition(r, depth+1), randomCondition(r, depth+1)}
	case depth < 3 && k < 4:
		return either{randomCondition(r, depth+1), randomCondition(r, depth+1)}
	case depth < 3 && k == 4:
		return negated{randomCondition(r, depth+1)}
	case k == 5:
		if path := pick(r, someKeys); path != "level" { // the level may be unknown
			return present{path}
		}
	}
	c := compare{path: pick(r, someKeys)}
	switch {
	case c.path == "level":
		c.op, c.value = pick(r, []string{"=", "!=", "<", "<=", ">", ">="}), pick(r, []string{"debug", "info", "warn", "error"})
	case r.IntN(4) == 0:
		c.op, c.value, c.quoted = pick(r, []string{"~", "!~"}), pick(r, []string{"^x", "y$", "1", "^$", "[0-9]+", "(?i)X", `\\`, "é", "^null$"}), true
	case r.IntN(5) == 0:
		c.op, c.value, c.quoted = "contains", pick(r, someTexts), true
	case r.IntN(2) == 0:
		c.op, c.value = pick(r, []string{"=", "!=", "<", "<=", ">", ">="}), pick(r, someNumber)
	default:
		c.op, c.value, c.quoted = pick(r, []string{"=", "!=", "<", "<=", ">", ">="}), pick(r, someTexts), true
	}
	return c
}

// lastWins decodes a line, with numbers as they are written. In package
// encoding/json the last of equal keys counts, too, except that it merges
// objects.
func lastWins(t *testing.T, line string) map[string]any {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	return object(t, d)
}

func object(t *testing.T, d *json.Decoder) map[string]any {
	m := map[string]any{}
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		t.Fatal(tok, err)
	}
	for d.More() {
		key, err := d.Token()
		must.Succeed(t, err)
		m[key.(string)] = anyValue(t, d)
	}
	_, _ = d.Token()
	return m
}

func anyValue(t *testing.T, d *json.Decoder) any {
	var raw json.RawMessage
	must.Succeed(t, d.Decode(&raw))
	if raw[0] == '{' {
		return lastWins(t, string(raw))
	}
	if raw[0] == '"' {
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	}
	if raw[0] == 'n' {
		return nil
	}
	return string(raw)
}

func TestQueriesAgreeWithAnObviousEvaluation(t *testing.T) {
	lines := 20_000
	if os.Getenv("NIB_E2E") == "full" {
		lines = 1_000_000
	}
	if s, err := strconv.Atoi(os.Getenv("NIB_LINES")); err == nil {
		lines = s
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	l := new(logread.Line)
	var matched int
	for n := 0; n < lines; {
		want := randomCondition(r, 0)
		q, err := logread.ParseQuery(want.String(), noon)
		if err != nil {
			t.Fatalf("%v: %v", want, err)
		}
		for range 10 {
			text := randomLine(r, 0)
			l.Reset([]byte(text))
			values := lastWins(t, text)
			if got := q.Match(l); got != want.holds(values) {
				t.Fatalf("line %d: %s\nquery %v: got %v, want %v", n, text, want, got, !got)
			} else if got {
				matched++
			}
			n++
		}
	}
	if matched < lines/10 || matched > lines*9/10 {
		t.Errorf("%d of %d lines match: the queries do not distinguish them", matched, lines)
	}
}
