// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/nibtest"
)

func recorded() (*nibtest.Recorder, *nib.Logger) {
	var rec nibtest.Recorder
	var clock nibtest.Clock
	return &rec, nib.NewSink(&rec, nib.WithClock(clock.Now))
}

func TestRecorderKeepsLinesInOrder(t *testing.T) {
	rec, log := recorded()
	log.Info().Int("n", 1).Msg("first")
	log.Warn().Int("n", 2).Msg("second")
	want := []string{
		`{"time":"2026-01-02T15:04:05.000Z","level":"info","n":1,"message":"first"}`,
		`{"time":"2026-01-02T15:04:05.000Z","level":"warn","n":2,"message":"second"}`,
	}
	if got := rec.Lines(); !reflect.DeepEqual(got, want) {
		t.Errorf("Lines:\n got %q\nwant %q", got, want)
	}
	if got := rec.Len(); got != 2 {
		t.Errorf("Len: got %d, want 2", got)
	}
}

func TestRecorderCopiesRecords(t *testing.T) {
	rec, log := recorded()
	log.Named("db").Error().Msg("a \"b\"")
	log.Named("db").Error().Msg("overwrites the buffer of the line before")
	r := rec.Records()[0]
	if r.Level != nib.LevelError || r.Logger != "db" || r.Time != epoch.UnixNano() {
		t.Errorf("got level %v, logger %q, time %d", r.Level, r.Logger, r.Time)
	}
	if got, want := string(r.Message), `a \"b\"`; got != want {
		t.Errorf("Message: got %s, want %s", got, want)
	}
	r.Line[0] = 'x'
	if got := rec.Records()[0].Line[0]; got != '{' {
		t.Error("a change of what Records returned changed the Recorder")
	}
}

func TestRecorderFindsByMessage(t *testing.T) {
	rec, log := recorded()
	log.Info().Str("k", "a").Msg("tab\tbed")
	log.Info().Str("k", "b").Msg("tab\tbed")
	log.Info().Send()
	if got := rec.Find("tab\tbed")["k"]; got != "a" {
		t.Errorf(`Find: got k=%v, want "a"`, got)
	}
	if got := len(rec.FindAll("tab\tbed")); got != 2 {
		t.Errorf("FindAll: got %d lines, want 2", got)
	}
	if got := rec.Find("nowhere"); got != nil {
		t.Errorf("Find of a message that is not there: got %v, want nil", got)
	}
}

// Every number that a line may have is found.
func TestRecorderFindsNumbersOutOfRange(t *testing.T) {
	rec, log := recorded()
	log.Info().RawJSON("n", []byte(`[1e400,{"m":-1e400},1e-400,1.5]`)).Msg("m")
	want := []any{math.Inf(1), map[string]any{"m": math.Inf(-1)}, 0.0, 1.5}
	if got := rec.Find("m")["n"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRecorderIsEmptyAfterReset(t *testing.T) {
	rec, log := recorded()
	log.Info().Msg("x")
	rec.Reset()
	if rec.Len() != 0 || len(rec.Records()) != 0 {
		t.Errorf("after Reset: %d lines", rec.Len())
	}
}

func TestRecorderFailsOnRequest(t *testing.T) {
	var rec nibtest.Recorder
	var reported error
	log := nib.NewSink(&rec, nib.WithErrorHandler(func(err error) { reported = err }))
	full := errors.New("disk full")
	rec.FailWith(full)
	log.Info().Msg("lost")
	rec.FailWith(nil)
	log.Info().Msg("kept")
	if !errors.Is(reported, full) || log.Stats().Failed != 1 || rec.Len() != 1 {
		t.Errorf("got error %v, %d failed, %d kept; want %v, 1, 1", reported, log.Stats().Failed, rec.Len(), full)
	}
}

func TestRecorderTakesLinesOfManyGoroutines(t *testing.T) {
	rec, log := recorded()
	await.Goroutines(8, func(g int) {
		for range 100 {
			log.Info().Int("g", g).Msg("x")
			_ = rec.Len() + len(rec.Lines())
		}
	})
	if got := len(rec.FindAll("x")); got != 800 {
		t.Errorf("got %d lines, want 800", got)
	}
}

var epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

func TestClockMovesOnlyByItsMethods(t *testing.T) {
	var c nibtest.Clock
	if got := c.Now(); !got.Equal(epoch) || !c.Now().Equal(got) {
		t.Errorf("zero Clock: got %v, want %v twice", got, epoch)
	}
	c.Advance(1500)
	if got, want := c.Now(), epoch.Add(1500); !got.Equal(want) {
		t.Errorf("after Advance: got %v, want %v", got, want)
	}
	c.Advance(epoch.AddDate(-1, 0, 0).Sub(c.Now()))
	c.Advance(-1)
	if got, want := c.Now(), epoch.AddDate(-1, 0, 0).Add(-1); !got.Equal(want) {
		t.Errorf("after Advance backwards: got %v, want %v", got, want)
	}
}

func ExampleRecorder() {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec)

	log.Info().Str("user", "ada").Float64("total", 12.5).Msg("order placed")

	fmt.Println(rec.Find("order placed")["total"])
	// Output: 12.5
}
