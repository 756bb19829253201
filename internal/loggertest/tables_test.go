// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/sink"
)

// TestTablesAreBounded uses each feature with more and more texts of the
// program, as if it made a name, message, key or error for each request. No
// table may grow with them.
func TestTablesAreBounded(t *testing.T) {
	n := seed.Times(1_000_000, 20_000, 20_000)
	for name, begin := range textTables {
		t.Run(name, func(t *testing.T) {
			call := begin(t)
			for i := range n / 4 {
				call(strconv.Itoa(i))
			}
			before := heapInUse()
			for i := n / 4; i < n; i++ {
				call(strconv.Itoa(i))
			}
			if grown := int64(heapInUse() - before); grown > 1<<18 {
				t.Errorf("%d texts keep %d bytes", n, grown)
			}
			runtime.KeepAlive(call)
		})
	}
}

// taken is a sink whose lines are made, unlike the lines of [sink.Discard].
var taken = sinkFunc(func(*nib.Record) error { return nil })

var textTables = map[string]func(t *testing.T) func(text string){
	"names under rules": func(t *testing.T) func(string) {
		rules, err := nib.ParseRules("info,db=debug,db.*=warn")
		must.Succeed(t, err)
		l := nib.New(io.Discard, nib.WithRules(rules))
		return func(text string) { l.Named("db").Named(text).Warn().Msg("m") }
	},
	"names of slog groups": func(*testing.T) func(string) {
		l := slog.New(nibslog.NewHandler(nib.New(io.Discard)))
		return func(text string) { l.WithGroup(text).With(text, 1).Info("m", text, 1) }
	},
	"keys": func(*testing.T) func(string) {
		l := nib.New(io.Discard, nib.WithLayout(layout.ECS()), nib.WithRedact("password"),
			nib.WithDuplicateKeys(nib.DuplicatesRename))
		return func(text string) {
			l.Info().Str(text, "v").Any("map", map[string]int{text: 1}).Msg("m")
		}
	},
	"errors of a sink": func(*testing.T) func(string) {
		var text string
		failing := sinkFunc(func(*nib.Record) error { return errors.New(text) })
		l := nib.NewSink(failing, nib.WithErrorHandler(func(error) {}))
		return func(s string) {
			text = s
			l.Info().Msg("m")
		}
	},
	"messages of Limit": func(*testing.T) func(string) {
		l := nib.NewSink(sink.Limit(taken, sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1}}))
		return func(text string) { l.Info().Msg(text) }
	},
	"messages of Sample": func(*testing.T) func(string) {
		keep := sink.Share{First: 1, Every: 100}
		l := nib.NewSink(sink.Sample(taken, sink.SampleConfig{Keep: keep}))
		return func(text string) { l.Info().Msg(text) }
	},
	"lines of Backtrace": func(*testing.T) func(string) {
		c := sink.BacktraceConfig{Level: nib.LevelError, Trigger: nib.LevelFatal}
		b := sink.Backtrace(taken, c)
		l := nib.NewSink(b, nib.WithLevel(nib.LevelTrace))
		return func(text string) { l.Info().Msg(text) }
	},
	"zones": func(*testing.T) func(string) {
		l := nib.New(io.Discard)
		return func(text string) {
			n, _ := strconv.Atoi(text)
			l.Info().Time("at", time.Unix(0, 0).In(time.FixedZone(text, n%80000))).Msg("m")
		}
	},
}
