// SPDX-License-Identifier: Apache-2.0

package nibhclog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibhclog"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/usercode"
)

// A program is a choice of calls by the bytes of an input. At its end, the
// choice is 0.
type program struct{ data []byte }

func (p *program) intn(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

var (
	keys  = []string{"a", "b", "c", "d", "key with space", `k"q`, "ключ", "", "error", hclog.MissingKey}
	texts = []string{"", "plain", `quoted " \`, "line\nbreak", "<&>\u2028", "漢字 🎉", "\xff bad", "\x00\x7f\u202e"}
)

func (p *program) text() string { return texts[p.intn(len(texts))] }

type textual struct{ s string }

func (t textual) MarshalText() ([]byte, error) { return []byte("text " + t.s), nil }
func (t textual) Error() string                { return "error " + t.s }

type object struct {
	Name  string            `json:"name"`
	Sub   *object           `json:"sub,omitempty"`
	Attrs map[string]string `json:"attrs"`
}

func (p *program) value() any {
	n, s := p.intn(256), p.text()
	values := []any{
		s, n, int64(-n) << 40, uint64(n) << 55, int8(n), uint16(n), n%2 == 0, float64(n) / 7, float32(n) / 8, nil, math.MaxFloat64,
		time.Duration(n) * time.Millisecond, errors.New(s), fmt.Errorf("wrapped: %w", errors.New(s)), textual{s}, &textual{s},
		hclog.Fmt("%d %s", n, s), hclog.Hex(n), hclog.Octal(n), hclog.Binary(n), hclog.Quote(s), hclog.CapturedStacktrace(s),
		[]string{s, "x"}, []int{n}, []byte(s), map[string]int{s: n}, []any{s, n, nil}, object{Name: s, Sub: &object{}}, &object{Name: s},
		json.RawMessage(`{"raw": 1}`), struct{}{}, (*int)(nil), [2]bool{true},
	}
	return values[p.intn(len(values))]
}

func (p *program) args(anyKey bool) (list []any) {
	for range p.intn(5) {
		var key any = keys[p.intn(len(keys))]
		if anyKey && p.intn(10) == 0 {
			key = []any{7, true, 1.5, hclog.Quote("k")}[p.intn(4)]
		}
		list = append(list, key, p.value())
	}
	if p.intn(6) == 0 {
		list = append(list, p.value())
	}
	return list
}

// run makes the calls with a logger and returns its lines and results.
func (p program) run(root hclog.Logger, out *bytes.Buffer) (shown []any) {
	loggers := []hclog.Logger{root}
	levels := []hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error}
	for range 2 + p.intn(8) {
		l := loggers[p.intn(len(loggers))]
		switch p.intn(8) {
		case 0:
			loggers = append(loggers, l.With(p.args(false)...))
		case 1:
			loggers = append(loggers, l.Named([]string{"db", "", "n\"q"}[p.intn(3)]))
		case 2:
			loggers = append(loggers, l.ResetNamed([]string{"x", ""}[p.intn(2)]))
		case 3:
			l.SetLevel([]hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error, hclog.Off}[p.intn(6)])
			shown = append(shown, l.GetLevel(), l.IsTrace(), l.IsDebug(), l.IsInfo(), l.IsWarn(), l.IsError(), l.Name())
		case 4:
			opts := &hclog.StandardLoggerOptions{InferLevels: p.intn(2) == 0, InferLevelsWithTimestamp: p.intn(2) == 0, ForceLevel: hclog.Level(p.intn(6))}
			prefix := []string{"", "[WARN] ", "[ERR]", "2026/01/02 15:04:05 [DEBUG] "}[p.intn(4)]
			l.StandardLogger(opts).Print(prefix + "std")
			usercode.Idle()
		case 5:
			shown = append(shown, impliedOf(l))
		default:
			[]func(string, ...any){l.Trace, l.Debug, l.Info, l.Warn, l.Error, func(msg string, args ...any) {
				l.Log(levels[p.intn(5)], msg, args...)
			}}[p.intn(6)](p.text(), p.args(true)...)
		}
		shown = append(shown, lineOf(out))
	}
	return shown
}

// impliedOf returns the arguments of With by key: hclog repeats a pair whose
// key was missing twice.
func impliedOf(l hclog.Logger) map[any]any {
	args, byKey := l.ImpliedArgs(), map[any]any{}
	for i := 0; i+1 < len(args); i += 2 {
		byKey[args[i]] = args[i+1]
	}
	return byKey
}

// lineOf decodes the written line, if any. Of equal keys the last counts.
func lineOf(out *bytes.Buffer) any {
	defer out.Reset()
	if out.Len() == 0 {
		return nil
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		return fmt.Errorf("not one line of JSON: %w: %s", err, out)
	}
	return line
}

var base = nib.New(io.Discard, nib.WithLayout(nibhclog.Layout()), nib.WithLevel(nib.LevelDebug))

func compare(data []byte) error {
	var h, n bytes.Buffer
	at := func() time.Time { return time.Unix(1767366245, 123456000).UTC() }
	want := program{data}.run(hclog.New(&hclog.LoggerOptions{Output: &h, JSONFormat: true, Level: hclog.Debug, TimeFn: at}), &h)
	l := base.WithOptions(nib.WithSink(nib.WriterSink(&n)), nib.WithClock(at))
	got := program{data}.run(nibhclog.New(l), &n)
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Errorf("step %d:\n got %v\nwant %v", i, got[i], want[i])
		}
	}
	return nil
}

func TestLinesAreThoseOfHclog(t *testing.T) {
	n := 5_000
	if os.Getenv("NIB_E2E") == "full" {
		n = 50_000
	}
	rnd := rand.New(rand.NewPCG(seed.Of(t), 19))
	for i := range n {
		data := make([]byte, 16+rnd.IntN(200))
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		if err := compare(data); err != nil {
			t.Fatalf("program %d, input %x: %v", i, data, err)
		}
	}
	t.Logf("%d programs", n)
}

func FuzzLinesAreThoseOfHclog(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add(bytes.Repeat([]byte{7, 1, 4, 200, 33}, 30))
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Succeed(t, compare(data))
	})
}
