// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/nib-log/nib"
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
	if got := rec.Last(); got != want[1] {
		t.Errorf("Last:\n got %s\nwant %s", got, want[1])
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
	if r.Level != nib.LevelError || r.Logger != "db" || r.Time != nibtest.Epoch.UnixNano() {
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
	_ = log.Flush(context.Background())
	if got := rec.Flushes(); got != 1 {
		t.Errorf("Flushes: got %d, want 1", got)
	}
	rec.Reset()
	if rec.Len() != 0 || rec.Flushes() != 0 || rec.Last() != "" || len(rec.Records()) != 0 {
		t.Errorf("after Reset: %d lines, %d flushes, last %q", rec.Len(), rec.Flushes(), rec.Last())
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

func TestRecorderCallsItsFunctions(t *testing.T) {
	var rec nibtest.Recorder
	full := errors.New("disk full")
	rec.WriteWith(func(r *nib.Record) error {
		if rec.Len() > 0 { // it may use the Recorder
			return full
		}
		return nil
	})
	rec.FlushWith(func(ctx context.Context) error { return ctx.Err() })
	first, second := nib.Record{Line: []byte("{}\n")}, nib.Record{Line: []byte("{}\n")}
	if err := rec.WriteRecord(&first); err != nil {
		t.Errorf("first record: got error %v, want none", err)
	}
	if err := rec.WriteRecord(&second); !errors.Is(err, full) || rec.Len() != 1 {
		t.Errorf("second record: got error %v and %d records, want %v and 1", err, rec.Len(), full)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rec.Flush(ended); !errors.Is(err, context.Canceled) || rec.Flushes() != 1 {
		t.Errorf("Flush: got error %v and %d calls, want %v and 1", err, rec.Flushes(), context.Canceled)
	}
	rec.Reset()
	if err := errors.Join(rec.WriteRecord(&first), rec.WriteRecord(&second), rec.Flush(ended)); err != nil || rec.Len() != 2 {
		t.Errorf("after Reset: got error %v and %d records, want none and 2", err, rec.Len())
	}
}

func TestRecorderTakesLinesOfManyGoroutines(t *testing.T) {
	rec, log := recorded()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				log.Info().Int("g", g).Msg("x")
				_ = rec.Len() + len(rec.Last())
			}
		}()
	}
	wg.Wait()
	if got := len(rec.FindAll("x")); got != 800 {
		t.Errorf("got %d lines, want 800", got)
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		line string
		want map[string]any
		ok   bool
	}{
		{"{}\n", map[string]any{}, true},
		{`{"a":1,"b":"x","a":2}` + "\n", map[string]any{"a": 2.0, "b": "x"}, true},
		{"{}", nil, false},
		{"{}\n\n", nil, false},
		{"{\n}\n", nil, false},
		{"{}{}\n", nil, false},
		{"{} x\n", nil, false},
		{"[]\n", nil, false},
		{"null\n", nil, false},
		{`{"a":}` + "\n", nil, false},
		{"", nil, false},
	} {
		got, err := nibtest.Decode([]byte(c.line))
		if (err == nil) != c.ok || c.ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("Decode(%q): got %v, %v; want %v, ok %v", c.line, got, err, c.want, c.ok)
		}
	}
}

func TestClockMovesOnlyByItsMethods(t *testing.T) {
	var c nibtest.Clock
	if got := c.Now(); !got.Equal(nibtest.Epoch) || !c.Now().Equal(got) {
		t.Errorf("zero Clock: got %v, want %v twice", got, nibtest.Epoch)
	}
	c.Advance(1500)
	if got, want := c.Now(), nibtest.Epoch.Add(1500); !got.Equal(want) {
		t.Errorf("after Advance: got %v, want %v", got, want)
	}
	c.Set(nibtest.Epoch.AddDate(-1, 0, 0))
	c.Advance(-1)
	if got, want := c.Now(), nibtest.Epoch.AddDate(-1, 0, 0).Add(-1); !got.Equal(want) {
		t.Errorf("after Set and Advance: got %v, want %v", got, want)
	}
}

func ExampleRecorder() {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec)

	log.Info().Str("user", "ada").Float64("total", 12.5).Msg("order placed")

	fmt.Println(rec.Find("order placed")["total"])
	// Output: 12.5
}
