// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

func TestRulesGiveLevelsByName(t *testing.T) {
	rules, err := nib.ParseRules("warn,db=debug,http.*=error")
	must.Succeed(t, err)
	var buf bytes.Buffer
	root := timeless(&buf).WithOptions(nib.WithRules(rules))
	db, pool, client := root.Named("db"), root.Named("db").Named("pool"), root.Named("http").Named("client")
	lowest := func() string {
		var out []string
		for _, l := range []*nib.Logger{root, db, pool, client, client.With(func(e *nib.Event) { e.Int("a", 1) })} {
			for _, level := range []nib.Level{nib.LevelTrace, nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError} {
				buf.Reset()
				l.At(level).Msg("m")
				if written := buf.Len() > 0; written != l.Enabled(level) {
					t.Errorf("%v: written %v, but Enabled says %v", level, written, !written)
				} else if written {
					out = append(out, level.String())
					break
				}
			}
		}
		return strings.Join(out, " ")
	}
	if got, want := lowest(), "warn debug debug error error"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := rules.Set("info,db.pool=trace"); err != nil {
		t.Error(err)
	}
	if got, want := lowest(), "info info trace info info"; got != want {
		t.Errorf("after Set: got %s, want %s", got, want)
	}
	if err := rules.Set("inof"); err == nil {
		t.Error("got no error for a level that is none")
	}
	if got, want := rules.String(), "info,db.pool=trace"; got != want {
		t.Errorf("after a Set that failed: got %s, want %s", got, want)
	}
}

func TestTheLaterOfLevelAndRulesHolds(t *testing.T) {
	rules, _ := nib.ParseRules("error")
	if l := nib.New(io.Discard, nib.WithRules(rules), nib.WithLevel(nib.LevelDebug)).Named("a"); !l.Enabled(nib.LevelDebug) {
		t.Error("WithLevel behind WithRules has no effect")
	}
	if l := nib.New(io.Discard, nib.WithLevel(nib.LevelDebug), nib.WithRules(rules)).Named("a"); l.Enabled(nib.LevelWarn) {
		t.Error("WithRules behind WithLevel has no effect")
	}
}

func TestRulesMayChangeWhileLoggersWork(t *testing.T) {
	rules, _ := nib.ParseRules("info")
	l := nib.New(io.Discard, nib.WithRules(rules))
	await.Goroutines(4, func(g int) {
		for i := range 200 {
			l.Named(fmt.Sprint("n", i%5)).Debug().Msg("m")
			if g == 0 {
				_ = rules.Set([]string{"debug", "warn,n1=info", "n2.*=trace"}[i%3])
				_ = rules.String()
			}
		}
	})
}

func TestDuplicateKeys(t *testing.T) {
	for policy, want := range map[nib.DuplicateKeys]string{
		nib.DuplicatesKeep:      `{"level":"info","a":1,"b":2,"a":3,"d":{"x":1,"x":2},"a":4,"message":"m"}`,
		nib.DuplicatesLastWins:  `{"level":"info","b":2,"d":{"x":1,"x":2},"a":4,"message":"m"}`,
		nib.DuplicatesFirstWins: `{"level":"info","a":1,"b":2,"d":{"x":1,"x":2},"message":"m"}`,
		nib.DuplicatesRename:    `{"level":"info","a":1,"b":2,"a#2":3,"d":{"x":1,"x":2},"a#3":4,"message":"m"}`,
	} {
		var buf bytes.Buffer
		l := timeless(&buf).WithOptions(nib.WithDuplicateKeys(policy)).With(func(e *nib.Event) { e.Int("a", 1) })
		for range 2 {
			buf.Reset()
			l.Info().Int("b", 2).Int("a", 3).Dict("d", func(e *nib.Event) { e.Int("x", 1).Int("x", 2) }).Int("a", 4).Msg("m")
			if got := strings.TrimSpace(buf.String()); got != want {
				t.Errorf("%d\n got %s\nwant %s", policy, got, want)
			}
		}
	}
}

// TestDuplicateKeysInGroups has groups with and without bound fields, and
// secrets under repeated keys.
func TestDuplicateKeysInGroups(t *testing.T) {
	dict := func(e *nib.Event) { e.Int("x", 1).Int("x", 2) }
	for policy, want := range map[nib.DuplicateKeys]string{
		nib.DuplicatesKeep: `{"a":1,"token":"***","a":2,"h":{"a":3,"b":{"x":1,"x":2},` +
			`"i":{"a":4,"a":5,"token":"***","token":"***"}}}`,
		nib.DuplicatesLastWins: `{"token":"***","a":2,"h":{"a":3,"b":{"x":1,"x":2},` +
			`"i":{"a":5,"token":"***"}}}`,
		nib.DuplicatesFirstWins: `{"a":1,"token":"***","h":{"a":3,"b":{"x":1,"x":2},` +
			`"i":{"a":4,"token":"***"}}}`,
		nib.DuplicatesRename: `{"a":1,"token":"***","a#2":2,"h":{"a":3,"b":{"x":1,"x":2},` +
			`"i":{"a":4,"a#2":5,"token":"***","token#2":"***"}}}`,
	} {
		var buf bytes.Buffer
		l := timeless(&buf).WithOptions(nib.WithDuplicateKeys(policy), nib.WithRedact("token")).
			With(func(e *nib.Event) { e.Int("a", 1) }).
			WithGroup("g").With(func(e *nib.Event) { e.Int("a", 1).Str("token", "t").Int("a", 2) }).
			WithGroup("h").With(func(e *nib.Event) { e.Int("a", 3).Dict("b", dict) }).
			WithGroup("i")
		for range 2 {
			buf.Reset()
			l.Info().Int("a", 4).Int("a", 5).Str("token", "t").Str("token", "u").Msg("m")
			want := `{"level":"info","a":1,"g":` + want + `,"message":"m"}`
			if got := strings.TrimSpace(buf.String()); got != want {
				t.Errorf("%d\n got %s\nwant %s", policy, got, want)
			}
		}
		l.WithGroup("empty").Info().Msg("m") // "i" has no field then
		line := buf.Bytes()[bytes.IndexByte(buf.Bytes(), '\n'):]
		if !json.Valid(line) || bytes.Contains(line, []byte("empty")) {
			t.Errorf("%d: got %s", policy, line)
		}
	}
}

func TestRedactWhereverTheKeyStands(t *testing.T) {
	const hidden = "hunter2"
	type login struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	in := login{"ada", hidden}
	err := fmt.Errorf("get https://ada:%s@example.org/x: %w", hidden, errors.New("refused"))
	var buf bytes.Buffer
	l := timeless(&buf).WithOptions(nib.WithRedact("password", "token")).With(func(e *nib.Event) { e.Str("token", hidden) })
	for name, write := range map[string]func(){
		"field":    func() { l.Info().Str("Password", hidden).Msg("m") },
		"object":   func() { l.Info().Dict("d", func(e *nib.Event) { e.Str("PASSWORD", hidden) }).Msg("m") },
		"Any":      func() { l.Info().Any("v", in).Any("p", &in).Any("s", []login{in}).Msg("m") },
		"Val":      func() { nib.Inline(nib.Val(l.Info(), "v", in), in).Msg("m") },
		"map":      func() { l.Info().Any("m", map[string]any{"password": map[string]any{"plain": hidden}}).Msg("m") },
		"RawJSON":  func() { l.Info().RawJSON("r", []byte(`{"token":["`+hidden+`"]}`)).Msg("m") },
		"error":    func() { l.Error().Err(err).Msg("failed") },
		"message":  func() { l.Info().Msg("login with password=" + hidden + " failed") },
		"Msgf":     func() { l.Info().Msgf("%+v %+v", in, map[string]string{"token": hidden}) },
		"line":     func() { logOnce(l, nib.LevelInfo, "m", &in) },
		"slog":     func() { l.Info().Attrs(slog.Group("g", "password", hidden), slog.Any("v", in)).Msg("m") },
		"LogAttrs": func() { l.LogAttrs(t.Context(), nib.LevelInfo, "m", slog.Any("v", in), slog.String("token", hidden)) },
	} {
		buf.Reset()
		write()
		if got := buf.String(); strings.Contains(got, hidden) || !strings.Contains(got, "***") || !json.Valid(buf.Bytes()) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// Edits skip time and level, unless they may change them.
func TestTimeAndLevelAreEdited(t *testing.T) {
	name := func(nib.Level) string { return "token=hunter2" }
	notUTF8 := func(e *nib.Event) { e.Int("\xff", 1) }
	for _, tt := range []struct {
		name   string
		layout nib.Layout
		option nib.Option
		want   string
	}{
		{"key of the time", nib.Layout{LevelKey: nib.OmitKey}, nib.WithRedact("time"),
			`{"time":"***","a":1,"a":1`},
		{"key of the level", nib.Layout{TimeKey: nib.OmitKey}, nib.WithRedact("level"),
			`{"level":"***","a":1,"a":1`},
		{"secret in the level", nib.Layout{TimeKey: nib.OmitKey, LevelName: name},
			nib.WithRedact("token"), `{"level":"token=***","a":1,"a":1`},
		{"nothing but the level", nib.Layout{TimeKey: nib.OmitKey},
			nib.WithMaxLine(35), `{"level":"info","truncated":34}`},
		{"key of cut bytes", nib.Layout{TimeKey: nib.OmitKey, LevelKey: "truncated"},
			nib.WithMaxLine(45), `{"truncated":"info","truncated#2":34}`},
		{"key of a renamed field", nib.Layout{TimeKey: nib.OmitKey, LevelKey: "a#2"},
			nib.WithDuplicateKeys(nib.DuplicatesRename), `{"a#2":"info","a":1,"a#3":1`},
		{"key of a field that is not UTF-8",
			nib.Layout{TimeKey: nib.OmitKey, LevelKey: "\ufffd", Static: notUTF8},
			nib.WithDuplicateKeys(nib.DuplicatesFirstWins), "{\"\ufffd\":\"info\",\"a\":1,\"m"},
	} {
		var buf bytes.Buffer
		l := nib.New(&buf, nib.WithLayout(tt.layout), tt.option)
		for range 2 {
			buf.Reset()
			l.Info().Int("a", 1).Int("a", 1).Msg("a message")
			if got := buf.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
			}
		}
	}
}

func TestRedactedMessageIsWhatSinksSee(t *testing.T) {
	var got string
	l := nib.NewSink(sinkFunc(func(r *nib.Record) error { got = string(r.Message); return nil }), nib.WithRedact("token"))
	l.Info().Str("token", "t").Msg("token=secret42 given")
	if want := "token=*** given"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMaxLine(t *testing.T) {
	var buf bytes.Buffer
	l := timeless(&buf).WithOptions(nib.WithMaxLine(200))
	l.Info().Str("k", "short").Msg("m")
	if got, want := buf.String(), `{"level":"info","k":"short","message":"m"}`+"\n"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for range 3 {
		buf.Reset()
		l.Info().Str("long", strings.Repeat("日本", 500)).Str("k", "short").Msg("m")
		var line struct {
			Level, Long, K, Message string
			Truncated               int
		}
		if err := json.Unmarshal(buf.Bytes(), &line); err != nil || buf.Len() > 200 {
			t.Fatalf("%d bytes, %v: %s", buf.Len(), err, buf.String())
		}
		if line.K != "short" || line.Message != "m" || line.Level != "info" || line.Truncated < 2500 || !strings.HasPrefix(line.Long, "日本日本") {
			t.Errorf("got %+v", line)
		}
	}
}

func TestAllocPolicies(t *testing.T) {
	l := nib.New(io.Discard, nib.WithRedact("password"), nib.WithDuplicateKeys(nib.DuplicatesLastWins), nib.WithMaxLine(300))
	rules, _ := nib.ParseRules("info")
	r := nib.New(io.Discard, nib.WithRules(rules))
	long := strings.Repeat("x", 1000)
	in := l.WithGroup("g").With(func(e *nib.Event) { e.Int("a", 1) }).WithGroup("h")
	alloctest.Zero(t, func() {
		in.Info().Int("a", 1).Int("a", 2).Msg("m")
		l.Info().Str("password", "p").Int("a", 1).Int("a", 2).Str("long", long).Msg("m token=5")
		l.Info().Int("a", 1).Msg("m")
		r.Info().Int("a", 1).Msg("m")
		r.Debug().Int("a", 1).Msg("m")
	})
}

// The mark of a shortened line has a key of its own.
func TestMarkOfAShortenedLineHasItsOwnKey(t *testing.T) {
	l, c := newCapture(t, nib.WithMaxLine(150))
	for _, add := range []func(e *nib.Event){
		func(e *nib.Event) { e.Int("truncated", 1) },
		func(e *nib.Event) { e.Int("truncated", 1).Int("truncated#2", 2) },
		func(e *nib.Event) { e.RawJSON("truncated", []byte("null")) },
	} {
		e := l.Info()
		add(e)
		e.Str("long", strings.Repeat("x", 200)).Msg("m")
		line := c.one()
		last := line.keys[len(line.keys)-1]
		if !strings.HasPrefix(last, "truncated#") || countKey(line, last) != 1 || countKey(line, "truncated") != 1 {
			t.Errorf("got %s", line)
		}
	}
}
