// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

var levelTexts = map[nib.Level]string{
	nib.LevelTrace: "trace", nib.LevelDebug: "debug", nib.LevelInfo: "info", nib.LevelWarn: "warn", nib.LevelError: "error",
	nib.LevelPanic: "panic", nib.LevelFatal: "fatal", nib.LevelInfo + 2: "info+2", nib.LevelWarn - 1: "info+3", nib.LevelTrace - 1: "trace-1",
	nib.LevelTrace + 1: "trace+1", nib.LevelDebug + 3: "debug+3", nib.LevelFatal + 1: "fatal+1", 100: "fatal+84", -100: "trace-92", 1 << 20: "fatal+1048560",
}

func TestLevelTexts(t *testing.T) {
	for l, want := range levelTexts {
		if got := l.String(); got != want {
			t.Errorf("%d\n got %s\nwant %s", int(l), got, want)
		}
	}
	for _, l := range []nib.Level{math.MaxInt, math.MinInt, math.MaxInt - 1, 0, -3, 17} {
		if back, err := nib.ParseLevel(l.String()); err != nil || back != l {
			t.Errorf("%s reads back as %d, %v", l, int(back), err)
		}
	}
}

func TestUnnamedLevelsAreNamedAfterTheNextLowerOne(t *testing.T) {
	l, c := newCapture(t, nib.WithLevel(nib.Level(math.MinInt+5)))
	for level, want := range levelTexts {
		for range 2 {
			l.At(level).Msg("m")
			if got := c.one().get("level").text; got != want {
				t.Errorf("%d\n got %s\nwant %s", int(level), got, want)
			}
		}
	}
	named, c := newCapture(t, nib.WithLayout(nib.Layout{LevelName: func(l nib.Level) string { return strings.ToUpper(l.String()) }}))
	named.At(nib.LevelInfo + 2).Msg("m")
	if got := c.one().get("level").text; got != "INFO+2" {
		t.Errorf("got %s", got)
	}
}

func TestParseLevelReadsLevelsOfNibAndSlog(t *testing.T) {
	for text, want := range map[string]nib.Level{
		"trace": nib.LevelTrace, "DEBUG": nib.LevelDebug, "Info": nib.LevelInfo, "warn": nib.LevelWarn, "WARNING": nib.LevelWarn, "error": nib.LevelError,
		"panic": nib.LevelPanic, "fatal": nib.LevelFatal, "info+2": 2, "INFO+2": 2, "ERROR-1": 7, "warning+1": 5, "-4": -4, "+3": 3, "0": 0, "12": 12,
	} {
		if got, err := nib.ParseLevel(text); err != nil || got != want {
			t.Errorf("%q\n got %v, %v\nwant %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "inof", " info", "info ", "info+", "info-", "+", "-", "info+x", "info+2+2", "info2", "1e3", "0x10", "1_0", "info+99999999999999999999",
		"99999999999999999999", "info\n", "İnfo", "none", "off", "nil", "4.0", "info++2", "fatal+9223372036854775807", "trace-9223372036854775808"} {
		want := fmt.Sprintf("nib: unknown level %q (want trace, debug, ", text)
		if got, err := nib.ParseLevel(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q\n got %v, %v, want the error %s…", text, got, err, want)
		}
	}
}

func TestLevelsAsText(t *testing.T) {
	type config struct {
		A nib.Level
		B *nib.LevelVar
	}
	var c config
	if err := json.Unmarshal([]byte(`{"A":"warn+1","B":"error"}`), &c); err != nil || c.A != nib.LevelWarn+1 || c.B.Level() != slog.LevelError {
		t.Errorf("got %v, %v, %v", c.A, c.B, err)
	}
	if b, err := json.Marshal(c); err != nil || string(b) != `{"A":"warn+1","B":"error"}` {
		t.Errorf("got %s, %v", b, err)
	}
	v := nib.Level(3)
	if err := v.UnmarshalText([]byte("inof")); err == nil || v != 3 {
		t.Errorf("got %v, %v", v, err)
	}
	if err := c.B.UnmarshalText([]byte("inof")); err == nil || c.B.String() != "error" {
		t.Errorf("got %v, %v", c.B, err)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.TextVar(c.B, "level", c.B, "")
	if err := fs.Parse([]string{"-level=debug"}); err != nil || c.B.Level() != slog.LevelDebug {
		t.Errorf("got %v, %v", c.B, err)
	}
}

func TestLevelsSwitchLinesOff(t *testing.T) {
	var own nib.LevelVar
	var theirs slog.LevelVar
	for name, x := range map[string]struct {
		leveler slog.Leveler
		set     func(nib.Level)
	}{
		"LevelVar": {&own, own.Set}, "slog.LevelVar": {&theirs, func(l nib.Level) { theirs.Set(l.Level()) }},
	} {
		l, c := newCapture(t, nib.WithLevel(x.leveler))
		k := l.Named("child")
		for _, at := range []nib.Level{-100, nib.LevelTrace, nib.LevelInfo, nib.LevelInfo + 1, nib.LevelFatal, 100} {
			x.set(at)
			checkLevels(t, name, at, k, c)
			constant, c := newCapture(t, nib.WithLevel(at))
			checkLevels(t, "Level", at, constant, c)
			foreign, c := newCapture(t, nib.WithLevel(at.Level()))
			checkLevels(t, "slog.Level", at, foreign, c)
		}
	}
}

func checkLevels(t *testing.T, name string, at nib.Level, l *nib.Logger, c *capture) {
	t.Helper()
	for level, e := range map[nib.Level]*nib.Event{nib.LevelTrace: l.Trace(), nib.LevelDebug: l.Debug(), nib.LevelInfo: l.Info(), nib.LevelWarn: l.Warn(), nib.LevelError: l.Error(), 2: l.At(2)} {
		if on := e.Enabled(); on != (level >= at) || on != l.Enabled(level) {
			t.Errorf("%s at %v: a line of %v is enabled: %v, Enabled says %v", name, at, level, on, l.Enabled(level))
		}
		e.Msg("m")
	}
	if e := l.Log(); !e.Enabled() {
		t.Errorf("%s at %v: Log is off", name, at)
	} else {
		e.Msg("m")
	}
	c.take()
}

func TestLoggerLevel(t *testing.T) {
	var v nib.LevelVar
	v.Set(nib.LevelError)
	rules, err := nib.ParseRules("warn,db=debug")
	must.Succeed(t, err)
	for _, tt := range []struct {
		name string
		log  *nib.Logger
		want nib.Level
	}{
		{"default", nib.New(io.Discard), nib.LevelInfo},
		{"constant", nib.New(io.Discard, nib.WithLevel(nib.LevelInfo+2)), nib.LevelInfo + 2},
		{"slog", nib.New(io.Discard, nib.WithLevel(slog.LevelDebug)), nib.LevelDebug},
		{"variable", nib.New(io.Discard, nib.WithLevel(&v)), nib.LevelError},
		{"rules", nib.New(io.Discard, nib.WithRules(rules)).Named("db"), nib.LevelDebug},
	} {
		if got := tt.log.Level(); got != tt.want || !tt.log.Enabled(tt.want) || tt.log.Enabled(tt.want-1) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Every level is shown, whatever its value, except by Logger.Log.
func TestExtremeLevelsAreShown(t *testing.T) {
	type columns struct{ A int }
	for _, level := range []nib.Level{
		math.MinInt, math.MinInt + 1, math.MinInt + 2, math.MaxInt - 1, math.MaxInt,
	} {
		l, c := newCapture(t)
		l = l.WithOptions(nib.WithLevel(nib.Level(math.MinInt)))
		form := nib.NewTemplate[columns](level, "m")
		l.At(level).Msg("m")
		l.LogAttrs(context.Background(), level, "m")
		l.AtDepth(level, 0).Msg("m")
		l.Entry(nib.Entry{Level: level, Message: "m"}).Send()
		form.Log(context.Background(), l, new(columns))
		lines := c.take()
		for _, line := range lines {
			if v := line.get("level"); v == nil || v.text == "" {
				t.Errorf("%d: got %s", int(level), line)
			}
		}
		if len(lines) != 5 {
			t.Errorf("%d: got %d lines, want 5", int(level), len(lines))
		}
	}
}

// A zero Array, like a nil one, adds nothing.
func TestZeroArray(t *testing.T) {
	for _, a := range []*nib.Array{nil, new(nib.Array)} {
		a.Str("a").Int(1).Uint(1).Float(1).Bool(true).Time(time.Time{}).Dur(1).Err(nil).Any(1)
		a.Object(nil).Null().Dict(func(*nib.Event) { t.Error("Dict called its function") })
		a.Array(func(*nib.Array) { t.Error("Array called its function") })
	}
}
