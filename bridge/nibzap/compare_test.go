// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
	"go.uber.org/zap/zapcore"
)

// zapConfig and nibLayout have the same keys and formats.
func zapConfig() zapcore.EncoderConfig {
	return zapcore.EncoderConfig{
		TimeKey: "ts", LevelKey: "level", NameKey: "logger", CallerKey: "caller", MessageKey: "msg", StacktraceKey: "stacktrace",
		EncodeLevel: zapcore.LowercaseLevelEncoder, EncodeDuration: zapcore.NanosDurationEncoder, EncodeCaller: zapcore.ShortCallerEncoder,
		EncodeTime: func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
			enc.AppendString(t.UTC().Format(time.RFC3339Nano))
		},
	}
}

func nibLayout() nib.Layout {
	l := layout.Zap()
	l.TimeFormat, l.Duration = time.RFC3339Nano, nib.DurationNanos
	return l
}

// base is made once, because New calls the functions of the layout.
var base = nib.New(io.Discard, nib.WithLayout(nibLayout()))

// A program derives cores and writes entries with them.
type program struct {
	level zapcore.Level
	steps []step
}

type step struct {
	core   int             // the core that is used, of those made so far
	with   []zapcore.Field // With, if write is false
	write  bool
	entry  zapcore.Entry
	fields []zapcore.Field
}

func newProgram(data []byte) (p program) {
	g := &generator{data: data}
	g.spaces = g.intn(2) == 0
	p.level = zapcore.Level(g.intn(4)) - 1
	for range 1 + g.intn(5) {
		s := step{core: g.intn(8)}
		if g.intn(2) == 0 {
			s.with = g.fields(0)
		} else {
			s.write, s.entry, s.fields = true, g.entry(), g.fields(0)
		}
		p.steps = append(p.steps, s)
	}
	p.steps = append(p.steps, step{core: 7, write: true, entry: g.entry(), fields: g.fields(0)})
	return p
}

func (g *generator) entry() zapcore.Entry {
	ent := zapcore.Entry{Level: zapcore.Level(g.intn(7)) - 1, Message: g.text()}
	if g.intn(4) > 0 {
		ent.Time = time.Unix(1767366245, int64(g.byte())*1e6)
	}
	if g.intn(3) == 0 {
		ent.LoggerName = []string{"db", "db.pool", "n\"q"}[g.intn(3)]
	}
	if g.intn(3) == 0 {
		pc, file, line, _ := runtime.Caller(0)
		ent.Caller = zapcore.EntryCaller{Defined: true, PC: pc - 1, File: file, Line: line}
	}
	if g.intn(4) == 0 {
		ent.Stack = "main.main\n\tmain.go:1"
	}
	return ent
}

// run runs p and returns a line for each entry, "" for those that are off.
func (p *program) run(root zapcore.Core, out *bytes.Buffer) (lines []string) {
	cores := []zapcore.Core{root}
	for _, s := range p.steps {
		c := cores[s.core%len(cores)]
		if !s.write {
			cores = append(cores, c.With(s.with))
			continue
		}
		out.Reset()
		if ce := c.Check(s.entry, nil); ce != nil {
			ce.Write(s.fields...)
		}
		lines = append(lines, out.String())
	}
	return lines
}

// compare reports how the lines of nib's core differ from zap's.
func (p *program) compare() error {
	var z bytes.Buffer
	want := p.run(zapcore.NewCore(zapcore.NewJSONEncoder(zapConfig()), zapcore.AddSync(&z), p.level), &z)
	n := new(bytes.Buffer)
	got := p.run(nibzap.NewCore(base.WithOptions(nib.WithSink(nib.WriterSink(n)), nib.WithLevel(nibzap.LevelOf(p.level)))), n)
	for i := range want {
		if want[i] == "" || got[i] == "" {
			if want[i] != got[i] {
				return fmt.Errorf("got  %q\nwant %q", got[i], want[i])
			}
			continue
		}
		w, err := recordtest.Members([]byte(want[i]))
		if err != nil {
			return fmt.Errorf("zap: %w\n%s", err, want[i])
		}
		g, err := recordtest.Members([]byte(got[i]))
		if err != nil {
			return fmt.Errorf("nib: %w\n%s", err, got[i])
		}
		if w, g = normalise(w), normalise(g); !reflect.DeepEqual(g, w) {
			return fmt.Errorf("got  %s%v\nwant %s%v", got[i], g, want[i], w)
		}
	}
	return nil
}

type member = recordtest.Member

// normalise removes the documented differences between both lines. It sorts
// members, since members of a namespace that a marshaler opens are sorted, and
// keeps the order of equal keys.
func normalise(object []member) []member {
	out := []member{}
	for _, m := range object {
		m.Key = strings.TrimPrefix(m.Key, "field.")
		m.Value = normaliseValue(m.Value)
		if v, ok := m.Value.([]member); ok && len(v) == 0 {
			continue
		}
		s, _ := m.Value.(string)
		name, isError := strings.CutSuffix(m.Key, "Error")
		switch {
		case isError && strings.HasPrefix(s, "PANIC="):
			m = member{Key: name, Value: "!PANIC: " + s[len("PANIC="):]}
		case isError && strings.HasPrefix(s, "json: unsupported"), strings.HasPrefix(s, "!ERROR: "):
			m = member{Key: name, Value: "!ERROR"}
			if !isError {
				m.Key = strings.TrimSuffix(m.Key, "Error")
			}
		case s == "<nil>":
			m.Value = nil
		case m.Key == "level" && s == "dpanic":
			m.Value = "error+2"
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b member) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func normaliseValue(v any) any {
	switch v := v.(type) {
	case []member:
		// A namespace that a marshaler opens has each key once: of two that fail
		// there, the last one leaves its error.
		v = normalise(v)
		slices.Reverse(v)
		v = slices.CompactFunc(v, func(a, b member) bool {
			isError := strings.HasSuffix(a.Key, "Error")
			return a.Key == b.Key && (isError || reflect.DeepEqual(a.Value, b.Value))
		})
		slices.Reverse(v)
		return v
	case []any:
		for i := range v {
			v[i] = normaliseValue(v[i])
		}
	case json.Number:
		if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return string(v)
		}
		if _, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return string(v)
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

func TestLinesAreThoseOfZap(t *testing.T) {
	n := 5_000
	if os.Getenv("NIB_E2E") == "full" {
		n = 200_000
	}
	rnd := rand.New(rand.NewPCG(seed.Of(t), 19))
	for i := range n {
		data := make([]byte, 16+rnd.IntN(300))
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		p := newProgram(data)
		if err := p.compare(); err != nil {
			t.Fatalf("program %d, input %x:\n%v", i, data, err)
		}
	}
	t.Logf("%d programs", n)
}

func FuzzLinesAreThoseOfZap(f *testing.F) {
	rnd := rand.New(rand.NewChaCha8([32]byte{20}))
	for range 32 {
		data := make([]byte, 200)
		for j := range data {
			data[j] = byte(rnd.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newProgram(data)
		must.Succeed(t, p.compare())
	})
}
