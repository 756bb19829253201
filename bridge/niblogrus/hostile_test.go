// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/sirupsen/logrus"
)

type panicsAsError struct{ with any }

func (p panicsAsError) Error() string { panic(p.with) }

type panicsAsJSON struct{}

func (panicsAsJSON) MarshalJSON() ([]byte, error) { panic("oh") }

type brokenJSON string

func (b brokenJSON) MarshalJSON() ([]byte, error) { return []byte(b), nil }

type failsAsJSON struct{}

func (failsAsJSON) MarshalJSON() ([]byte, error) { return nil, errors.New("will not") }

type pointerError struct{ text string }

func (p *pointerError) Error() string { return p.text }

// both is an error with a method MarshalJSON.
type both struct{}

func (both) Error() string                { return "text" }
func (both) MarshalJSON() ([]byte, error) { return []byte(`{"code":1}`), nil }

// tough are values that logrus cannot handle. The text after !ERROR differs
// between releases of Go.
var tough = []struct {
	name  string
	value any
	want  string
}{
	{"NaN", math.NaN(), `"NaN"`},
	{"infinity", math.Inf(-1), `"-Inf"`},
	{"NaN in a slice", []any{math.NaN(), 1}, `["NaN",1]`},
	{"channel", make(chan int), `"!ERROR"`},
	{"function", func() {}, `"!ERROR"`},
	{"function in a map", map[string]any{"f": func() {}, "a": 1}, `{"a":1,"f":"!ERROR"}`},
	{"complex number", 1i, `"!ERROR"`},
	{"error", io.EOF, `"EOF"`},
	{"error that would be JSON", both{}, `"text"`},
	{"nil error", error(nil), `null`},
	{"nil pointer as error", (*pointerError)(nil), `null`},
	{"errors in a slice", []error{io.EOF, nil}, `["EOF",null]`},
	{"error in []any", []any{io.EOF, []any{io.EOF}, logrus.Fields{"e": io.EOF}}, `["EOF",["EOF"],{"e":"EOF"}]`},
	{"error in a map", map[string]any{"e": io.EOF}, `{"e":"EOF"}`},
	{"error in nested fields", logrus.Fields{"a": logrus.Fields{"e": io.EOF}}, `{"a":{"e":"EOF"}}`},
	{"error in a slice of fields", []logrus.Fields{{"e": io.EOF}}, `[{"e":"EOF"}]`},
	{"Error panics", panicsAsError{"oh"}, `"!PANIC: oh"`},
	{"Error panics in a slice", []any{panicsAsError{io.EOF}, 1}, `["!PANIC: EOF",1]`},
	{"Error panics with an error that panics", panicsAsError{panicsAsError{"oh"}}, `"!PANIC: niblogrus_test.panicsAsError"`},
	{"MarshalJSON panics", panicsAsJSON{}, `"!PANIC: oh"`},
	{"MarshalJSON fails", &failsAsJSON{}, `"!ERROR"`},
	{"MarshalJSON with newlines", brokenJSON("{\n\"a\":\n1}"), `{"a":1}`},
	{"raw JSON that is none", json.RawMessage("{]\n"), `"{]\n"`},
	{"text that looks like a line", "\"}\n{\"msg\":\"forged\"}", `"\"}\n{\"msg\":\"forged\"}"`},
	{"nib.Marshaler", object{}, `{"a":1}`},
}

var explanation = regexp.MustCompile(`"!ERROR: ([^"\\]|\\.)+"`)

// unexplained removes the text of an error.
func unexplained(line string) string { return explanation.ReplaceAllString(line, `"!ERROR"`) }

type object struct{}

func (object) MarshalNib(e *nib.Event) { e.Int("a", 1) }

func TestHostileValues(t *testing.T) {
	f := &niblogrus.Formatter{Layout: noTime(nib.Layout{LevelKey: nib.OmitKey, MessageKey: nib.OmitKey})}
	for _, c := range tough {
		t.Run(c.name, func(t *testing.T) {
			e := entryOf(nil)
			e.Data = logrus.Fields{"a": 1, "v": c.value, "z": 2} // WithFields would refuse a function
			want := `{"a":1,"v":` + c.want + `,"z":2}` + "\n"
			if got, _ := format(t, f, e); unexplained(got) != want {
				t.Errorf("got  %swant %s", got, want)
			}
			f := &niblogrus.Formatter{Layout: f.Layout, DataKey: "data"}
			want = `{"data":` + want[:len(want)-1] + "}\n"
			if got, _ := format(t, f, e); unexplained(got) != want {
				t.Errorf("with DataKey: got  %swant %s", got, want)
			}
		})
	}
}

func TestEndlessValuesEnd(t *testing.T) {
	fields := logrus.Fields{}
	fields["self"] = fields
	slice := []any{nil}
	slice[0] = slice
	var chain any = io.EOF
	for range 1000 {
		chain = []any{chain}
	}
	type node struct{ Next *node }
	ring := &node{}
	ring.Next = ring
	for name, v := range map[string]any{"fields": fields, "slice": slice, "deep": chain, "ring": ring} {
		line, _ := format(t, &niblogrus.Formatter{}, entryOf(logrus.Fields{"v": v}))
		if !explanation.MatchString(line) || len(line) > 10_000 {
			t.Errorf("%s: got %.200s (%d bytes), want a value that says where it has been cut off", name, line, len(line))
		}
	}
}

func TestHugeEntries(t *testing.T) {
	many := logrus.Fields{}
	for i := range 5000 {
		many[fmt.Sprint("key", i)] = i
	}
	f := &niblogrus.Formatter{}
	for name, data := range map[string]logrus.Fields{
		"value": {"a": strings.Repeat("\x00\"é", 1<<18)},
		"key":   {strings.Repeat("k", 1<<18): 1},
		"many":  many,
		"empty": {},
	} {
		_, got := format(t, f, entryOf(data))
		if len(got) != len(data)+3 {
			t.Errorf("%s: got %d fields, want %d", name, len(got), len(data)+3)
		}
	}
}

// logsItself is a value whose MarshalJSON logs through the logger that is
// writing it.
type logsItself struct{ l *logrus.Logger }

func (v logsItself) MarshalJSON() ([]byte, error) {
	v.l.WithField("inner", 1).Info("from within")
	return []byte(`"done"`), nil
}

// logsItselfForEver logs itself.
type logsItselfForEver struct{ l *logrus.Logger }

func (v logsItselfForEver) Error() string {
	v.l.WithField("v", v).Info("again")
	return "done"
}

func TestValuesThatLog(t *testing.T) {
	var lines lineWriter
	l := logrus.New()
	l.SetOutput(&lines)
	l.SetFormatter(&niblogrus.Formatter{})
	l.WithField("v", logsItself{l}).Info("outer")
	if got := lines.count(t); got["from within"] != 1 || got["outer"] != 1 {
		t.Errorf("got %v, want each message once", got)
	}
	l.WithField("v", logsItselfForEver{l}).Info("last")
	if got := lines.count(t); got["last"] != 1 || got["again"] == 0 || got["again"] > 20 {
		t.Errorf("got %v, want the last message and some of those within", got)
	}
}

// A lineWriter counts valid lines by message.
type lineWriter struct {
	mu    sync.Mutex
	lines [][]byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, append([]byte(nil), p...))
	return len(p), nil
}

func (w *lineWriter) count(t *testing.T) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for _, line := range w.lines {
		fields, err := recordtest.Decode(line)
		if err != nil {
			t.Fatalf("got %q: %v", line, err)
		}
		n[fields["msg"].(string)]++
	}
	return n
}

func TestGoroutinesThatEndInAValue(t *testing.T) {
	f := &niblogrus.Formatter{}
	await.Goroutines(10, func(int) {
		_, _ = f.Format(entryOf(logrus.Fields{"a": 1, "v": endsGoroutine{}, "z": 1}))
		t.Error("got a line, want the end of the goroutine")
	})
	line, _ := format(t, f, entryOf(logrus.Fields{"a": 1}))
	if want := `{"a":1,"level":"info","msg":"request handled","time":"2026-01-02T12:30:05+09:00"}` + "\n"; line != want {
		t.Errorf("the line after that: got  %swant %s", line, want)
	}
}

func TestFormatterIsSafeForConcurrentUse(t *testing.T) {
	var lines lineWriter
	l := logrus.New()
	l.SetOutput(&lines)
	l.SetFormatter(topic())
	l.SetReportCaller(true)
	const goroutines, each = 8, 200
	await.Goroutines(goroutines, func(g int) {
		log := l.WithField("task_id", fmt.Sprint(g))
		for n := range each {
			log.WithFields(logrus.Fields{"n": n, "msg": 1, "fields.msg": 2,
				"nested": logrus.Fields{"g": g}}).Info(fmt.Sprint(g, " ", n))
		}
	})
	for msg, n := range lines.count(t) {
		if n != 1 {
			t.Errorf("message %q: got %d lines, want 1", msg, n)
		}
	}
	if got := len(lines.lines); got != goroutines*each {
		t.Errorf("got %d lines, want %d", got, goroutines*each)
	}
	for _, line := range lines.lines {
		fields, _ := recordtest.Decode(line)
		g, n, _ := strings.Cut(fields["msg"].(string), " ")
		if fields["task_id"] != g || fmt.Sprint(fields["n"]) != n || fmt.Sprint(fields["nested"]) != "map[g:"+g+"]" ||
			fields["fields.msg"] != 2.0 || fields["fields.fields.msg"] != 1.0 {
			t.Fatalf("the fields of different lines are mixed: %s", line)
		}
	}
}

// endsGoroutine ends the goroutine that calls its Error method.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}
