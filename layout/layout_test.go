// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/layout"
)

// presets are all layouts of the package.
var presets = []struct {
	name   string
	layout nib.Layout
}{
	{"ECS", layout.ECS()},
	{"GCP", layout.GCP()},
	{"Datadog", layout.Datadog()},
	{"OTel", layout.OTel()},
	{"Zap", layout.Zap()},
	{"Zerolog", layout.Zerolog()},
	{"Logrus", layout.Logrus()},
	{"Slog", layout.Slog()},
}

func preset(t testing.TB, name string) nib.Layout {
	t.Helper()
	for _, p := range presets {
		if p.name == name {
			return p.layout
		}
	}
	t.Fatalf("no layout %q", name)
	return nib.Layout{}
}

// epoch is the time of the lines in these tests, in the zone that nib.WithClock
// uses.
var epoch = time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.FixedZone("", 3600))

// line returns the line of f under a layout, without its newline.
func line(l nib.Layout, f func(*nib.Logger), opts ...nib.Option) string {
	var b bytes.Buffer
	opts = append([]nib.Option{
		nib.WithLayout(l), nib.WithLevel(nib.LevelTrace), nib.WithClock(func() time.Time { return epoch }),
	}, opts...)
	f(nib.New(&b, opts...))
	return strings.TrimSuffix(b.String(), "\n")
}

// fields decodes a line and fails if a key comes twice.
func fields(t *testing.T, line string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if tok, err := dec.Token(); tok != json.Delim('{') || err != nil {
		t.Fatalf("%s: not an object: %v", line, err)
	}
	m := map[string]any{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, twice := m[key.(string)]; twice {
			t.Errorf("%s: key %q twice", line, key)
		}
		m[key.(string)] = value
	}
	return m
}

// wants compares the values of some keys. A nil value means that the key is
// absent.
func wants(t *testing.T, line string, want map[string]any) {
	t.Helper()
	got := fields(t, line)
	for key, value := range want {
		g, ok := got[key]
		if value == nil {
			if ok {
				t.Errorf("%s: %q is %v, want none", line, key, g)
			}
			continue
		}
		if fmt.Sprint(g) != fmt.Sprint(value) {
			t.Errorf("%s: %q is %v, want %v", line, key, g, value)
		}
	}
}

func TestTheKeysOfALine(t *testing.T) {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	frame, _ := runtime.CallersFrames(pcs[:]).Next()
	short := path.Join(path.Base(path.Dir(frame.File)), path.Base(frame.File))
	at := ":" + strconv.Itoa(frame.Line)
	for _, tt := range []struct {
		name string
		want string // with $FILE, $SHORT, $LINE and $FUNC in place of the call site
	}{
		{"ECS", `{"@timestamp":"2026-01-02T14:04:05.123Z","log.level":"warn","log.logger":"db","log.origin":{"function":"$FUNC","file.name":"$SHORT","file.line":$LINE},` +
			`"message":"slow","ecs.version":"8.11.0","took":1500000,"error.message":"gone","error.type":"*errors.errorString"}`},
		{"GCP", `{"time":"2026-01-02T14:04:05.123456789Z","severity":"WARNING","logger":"db","logging.googleapis.com/sourceLocation":{"file":"$FILE","line":"$LINE","function":"$FUNC"},` +
			`"took":1.5,"error":"gone","message":"slow"}`},
		{"Datadog", `{"timestamp":"2026-01-02T14:04:05.123Z","status":"warn","logger.name":"db","caller":"$SHORT:$LINE",` +
			`"took":1500000,"error.message":"gone","error.kind":"*errors.errorString","message":"slow"}`},
		{"OTel", `{"Timestamp":"2026-01-02T14:04:05.123456789Z","SeverityText":"WARN","otel.scope.name":"db","code.file.path":"$FILE","code.line.number":$LINE,"code.function.name":"$FUNC",` +
			`"took":0.0015,"exception.message":"gone","exception.type":"*errors.errorString","Body":"slow"}`},
		{"Zap", `{"ts":1767362645,"level":"warn","logger":"db","caller":"$SHORT:$LINE","msg":"slow","took":0.0015,"error":"gone"}`},
		{"Zerolog", `{"time":"2026-01-02T15:04:05+01:00","level":"warn","logger":"db","caller":"$FILE:$LINE","took":1.5,"error":"gone","message":"slow"}`},
		{"Logrus", `{"time":"2026-01-02T15:04:05+01:00","level":"warning","logger":"db","func":"$FUNC","file":"$FILE:$LINE","msg":"slow","took":1500000,"error":"gone"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := line(preset(t, tt.name), func(l *nib.Logger) {
				l.Named("db").Entry(nib.Entry{Time: epoch, Level: nib.LevelWarn, Message: "slow", PC: pcs[0]}).
					Dur("took", 1500*time.Microsecond).Err(errors.New("gone")).Send()
			}, nib.WithCaller())
			want := strings.NewReplacer("$FILE", frame.File, "$SHORT", short, ":$LINE", at, "$LINE", strconv.Itoa(frame.Line), "$FUNC", frame.Function).Replace(tt.want)
			if got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// To Elasticsearch a.b is a member of the object a: it rejects a line in which
// a is a text.
func TestNoKeyIsTheParentOfAnother(t *testing.T) {
	for name, l := range layouts() {
		withCauses := l
		withCauses.Error = layout.ErrorCauses
		for _, l := range []nib.Layout{l, withCauses} {
			got := fields(t, line(l, func(l *nib.Logger) {
				l.Named("n").Error().Err(fmt.Errorf("read: %w", io.EOF)).Msg("m")
			}, nib.WithCaller(), nib.WithStack(nib.LevelError)))
			for key, value := range got {
				for parent := range got {
					if strings.HasPrefix(key, parent+".") {
						t.Errorf("%s: %q has the value %v, but %q is a field, too", name, key, value, parent)
					}
				}
			}
		}
	}
}

func TestTheStackOfALine(t *testing.T) {
	for name, key := range map[string]string{
		"ECS": "error.stack_trace", "GCP": "stack_trace", "Datadog": "error.stack", "OTel": "code.stacktrace",
		"Zap": "stacktrace", "Zerolog": "stack", "Logrus": "stack",
	} {
		got := fields(t, line(preset(t, name), func(l *nib.Logger) { l.Error().Msg("m") }, nib.WithStack(nib.LevelError)))
		if s, _ := got[key].(string); !strings.HasPrefix(s, "github.com/nib-log/nib/layout_test.TestTheStackOfALine") {
			t.Errorf("%s: %q is %v, want the stack", name, key, got[key])
		}
	}
}

func TestLevels(t *testing.T) {
	levels := []nib.Level{-100, nib.LevelTrace, nib.LevelTrace + 1, nib.LevelDebug, nib.LevelDebug + 3, nib.LevelInfo, nib.LevelInfo + 1, nib.LevelInfo + 2,
		nib.LevelWarn, nib.LevelWarn + 1, nib.LevelError, nib.LevelError + 3, nib.LevelPanic, nib.LevelPanic + 2, nib.LevelFatal, 100}
	for name, want := range map[string]string{
		"ECS":     "trace-92 trace trace+1 debug debug+3 info info+1 info+2 warn warn+1 error error+3 panic panic+2 fatal fatal+84",
		"GCP":     "DEBUG DEBUG DEBUG DEBUG DEBUG INFO INFO NOTICE WARNING WARNING ERROR ERROR CRITICAL CRITICAL ALERT ALERT",
		"Datadog": "debug debug debug debug debug info info notice warn warn error error critical critical alert alert",
		"OTel":    "TRACE TRACE TRACE2 DEBUG DEBUG4 INFO INFO2 INFO3 WARN WARN2 ERROR ERROR4 FATAL FATAL3 FATAL4 FATAL4",
		"Zap":     "trace-92 trace trace+1 debug debug+3 info info+1 info+2 warn warn+1 error error+3 panic panic+2 fatal fatal+84",
		"Zerolog": "trace-92 trace trace+1 debug debug+3 info info+1 info+2 warn warn+1 error error+3 panic panic+2 fatal fatal+84",
		"Logrus":  "trace-92 trace trace+1 debug debug+3 info info+1 info+2 warning warning+1 error error+3 panic panic+2 fatal fatal+84",
	} {
		p := preset(t, name)
		var got []string
		for _, level := range levels {
			m := fields(t, line(p, func(l *nib.Logger) { l.At(level).Send() }, nib.WithLevel(level)))
			got = append(got, fmt.Sprint(m[p.LevelKey]))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s:\n got %s\nwant %s", name, s, want)
		}
	}
}

func TestFieldsCannotForgeKeysOfNib(t *testing.T) {
	for _, p := range presets {
		for _, key := range []string{p.layout.TimeKey, p.layout.LevelKey, p.layout.MessageKey, p.layout.LoggerKey, p.layout.CallerKey, p.layout.StackKey} {
			if key == "" {
				continue
			}
			got := line(p.layout, func(l *nib.Logger) { l.Named("n").Error().Str(key, "forged").Msg("m") }, nib.WithCaller(), nib.WithStack(nib.LevelError))
			wants(t, got, map[string]any{"field." + key: "forged"})
		}
	}
}

func TestNoErrorIsNull(t *testing.T) {
	for _, p := range presets {
		key := p.layout.ErrorKey
		if key == "" {
			key = "error"
		}
		m := fields(t, line(p.layout, func(l *nib.Logger) { l.Error().Err(nil).Send() }))
		if v, ok := m[key]; !ok || v != nil {
			t.Errorf("%s: %q is %v (%v), want null", p.name, key, v, ok)
		}
	}
}

// A panicking error has a method that always panics.
type panicking struct{}

func (panicking) Error() string { panic("no text") }

func TestAnErrorThatPanicsIsShown(t *testing.T) {
	for _, p := range presets {
		got := line(p.layout, func(l *nib.Logger) { l.Error().Err(panicking{}).Msg("m") })
		fields(t, got)
		if !strings.Contains(got, "!PANIC: no text") || !strings.Contains(got, `:"m"`) {
			t.Errorf("%s: %s: want the panic and the message", p.name, got)
		}
	}
}

// A rich error prints more with %+v; a group has several.
type (
	rich  struct{}
	group []error
)

func (rich) Error() string      { return "gone" }
func (group) Error() string     { return "several" }
func (g group) Errors() []error { return g }

func (rich) Format(s fmt.State, _ rune) {
	_, _ = io.WriteString(s, "gone")
	if s.Flag('+') {
		_, _ = io.WriteString(s, " home")
	}
}

func TestZapWritesDetailsOfSomeErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("gone"), `{"error":"gone"}`},
		{rich{}, `{"error":"gone","errorVerbose":"gone home"}`},
		{group{errors.New("a"), nil, rich{}}, `{"error":"several","errorCauses":[{"error":"a"},{"error":"gone","errorVerbose":"gone home"}]}`},
	} {
		l := layout.Zap()
		l.TimeKey = nib.OmitKey
		if got := line(l, func(l *nib.Logger) { l.Log().Err(tt.err).Send() }); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	err := errors.New("gone")
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			l := nib.New(io.Discard, nib.WithLayout(p.layout), nib.WithCaller())
			alloctest.Zero(t, func() { l.Info().Dur("took", time.Second).Msg("m") })
			alloctest.Zero(t, func() { l.Info().Err(err).Msg("m") })
		})
	}
}

// Neither a deep error nor a wide one makes a line without bound.
func TestCausesAreBounded(t *testing.T) {
	const n = 1000
	deep, many := errors.New("cause"), make([]error, n)
	for i := range many {
		deep = fmt.Errorf("outer: %w", deep)
		many[i] = fmt.Errorf("number %d", i)
	}
	wide := errors.Join(many...)
	mixed := errors.Join(append(many[:40:40], fmt.Errorf("and: %w", wide))...)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"deep": {deep, 32}, "wide": {wide, 64}, "mixed": {mixed, 64},
		"few": {errors.Join(many[:64]...), 64},
	} {
		var out bytes.Buffer
		log := nib.New(&out, nib.WithLayout(nib.Layout{Error: layout.ErrorCauses}))
		log.Error().Err(c.err).Send()
		var line struct {
			Causes []string `json:"error_causes"`
		}
		must.Succeed(t, json.Unmarshal(out.Bytes(), &line))
		if len(line.Causes) != c.want {
			t.Errorf("%s: got %d causes, want %d", name, len(line.Causes), c.want)
		}
	}
}
