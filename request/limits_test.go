// SPDX-License-Identifier: Apache-2.0

package request

import (
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func TestCharactersOfIDs(t *testing.T) {
	for c := range 256 {
		text := string([]byte{byte(c)})
		allowed := letters + digits + "-_.~:/+=@"
		if got, want := isClientID(text), strings.Contains(allowed, text); got != want {
			t.Errorf("isClientID(%q): got %v, want %v", text, got, want)
		}
		if got, want := isHex(text), strings.Contains(digits+"abcdef", text); got != want {
			t.Errorf("isHex(%q): got %v, want %v", text, got, want)
		}
	}
}

func TestLengthOfClientIDs(t *testing.T) {
	for n, want := range map[int]bool{
		0: false, 1: true, maxClientID: true, maxClientID + 1: false,
	} {
		if got := isClientID(strings.Repeat("x", n)); got != want {
			t.Errorf("%d characters: got %v, want %v", n, got, want)
		}
	}
}

// backtrace returns a Config with a Backtracer of a level.
func backtrace(of, level nib.Level) Config {
	b := sink.Backtrace(new(recordtest.Recorder), sink.BacktraceConfig{Level: of})
	return Config{Backtrace: b, BacktraceLevel: level}
}

func TestLimitsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		valid  bool
	}{
		{Config{Slow: -1}, false}, {Config{Slow: math.MaxInt64}, true},
		{Config{Sample: -1}, false}, {Config{Sample: math.MaxInt}, true},
		{Config{MaxBytes: -1}, false}, {Config{MaxBytes: maxMaxBytes}, true},
		{Config{MaxBytes: maxMaxBytes + 1}, false},
		{backtrace(0, 0), true}, {backtrace(0, nib.LevelTrace), true},
		{backtrace(nib.LevelWarn, nib.LevelWarn), true}, {backtrace(0, 1), false},
		{backtrace(nib.LevelTrace, 0), false}, {backtrace(nib.LevelDebug, nib.LevelWarn), false},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
}

// MaxBytes is the size of the encoded fields, of one or several additions.
func TestAdditionsOfMaxBytes(t *testing.T) {
	added := []slog.Attr{slog.Int("a", 1), slog.Int("b", 2)}
	log := nib.NewSink(new(recordtest.Recorder))
	size := len(log.AppendFields(nil, func(e *nib.Event) { e.Attrs(added[0]) }))
	for limit, dropped := range map[int]uint64{size - 1: 2, size: 1, 2*size - 1: 1, 2 * size: 0} {
		p := New(Config{MaxBytes: limit})
		var rec recordtest.Recorder
		var r Request
		r.Start(t.Context(), p, nib.NewSink(&rec), "", "")
		for _, a := range added {
			AddAttrs(&r, a)
		}
		e := r.End(Outcome{})
		r.AddFields(e)
		e.Msg("request")
		var want any // no field
		if dropped > 0 {
			want = float64(dropped)
		}
		got, n := rec.Find("request")["additions_dropped"], p.Stats().TooLarge
		if got != want || n != dropped {
			t.Errorf("%d bytes: got %v and %d dropped additions, want %d", limit, got, n, dropped)
		}
	}
}

func TestLeastSlowAndSample(t *testing.T) {
	for _, c := range []struct {
		config Config
		took   time.Duration
		slow   uint64
		weight any
	}{
		{Config{Slow: 0}, time.Hour, 0, nil},
		{Config{Slow: 1}, 0, 0, nil},
		{Config{Slow: 1}, 1, 1, nil},
		{Config{Sample: 1}, 0, 0, nil},
		{Config{Sample: 2, Slow: 1}, 1, 1, 1.0},
	} {
		p := New(c.config)
		var rec recordtest.Recorder
		var r Request
		r.Start(t.Context(), p, nib.NewSink(&rec), "", "")
		e := r.End(Outcome{Took: c.took})
		r.AddFields(e)
		e.Msg("request")
		got, slow := rec.Find("request")["sample_weight"], p.Stats().Slow
		if slow != c.slow || got != c.weight {
			t.Errorf("%+v: got %d slow requests and weight %v, want %d and %v",
				c.config, slow, got, c.slow, c.weight)
		}
	}
}

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	var p Policy
	p.failed.Store(2)
	p.slow.Store(3)
	p.marked.Store(4)
	p.written.Store(5)
	p.sampledOut.Store(6)
	p.suppressed.Store(7)
	p.late.Store(8)
	p.tooLarge.Store(9)
	want := Stats{
		Ended: 18, Failed: 2, Slow: 3, Marked: 4, Written: 5, SampledOut: 6, Suppressed: 7,
		Late: 8, TooLarge: 9,
	}
	if got := p.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, &p, want, map[string]string{
		"Ended":      "", // the sum of the events
		"Written":    `nib_request_events_total{outcome="written"}`,
		"SampledOut": `nib_request_events_total{outcome="sampled_out"}`,
		"Suppressed": `nib_request_events_total{outcome="suppressed"}`,
		"Failed":     `nib_request_kept_total{reason="failed"}`,
		"Slow":       `nib_request_kept_total{reason="slow"}`,
		"Marked":     `nib_request_kept_total{reason="marked"}`,
		"Late":       `nib_request_dropped_additions_total{reason="late"}`,
		"TooLarge":   `nib_request_dropped_additions_total{reason="too_large"}`,
	})
}
