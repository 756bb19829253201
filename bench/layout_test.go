// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// whole is the time of all lines: a whole second, since nib's layout of zap has
// no fraction.
var whole = time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600))

// layoutTook and errGone are values that the loggers write differently.
const layoutTook = 1500 * time.Microsecond

var errGone = errors.New("gone")

// decodeLine reads a line as a map.
func decodeLine(t *testing.T, line string) map[string]any {
	t.Helper()
	m := map[string]any{}
	err := decode([]byte(line), func(key string, v any) error {
		m[key] = plain(v)
		return nil
	})
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return m
}

// compareLines compares two logs line by line: a peer's, and nib's under the
// peer's layout.
func compareLines(t *testing.T, peer, nib string) {
	t.Helper()
	theirs := strings.Split(strings.TrimSpace(peer), "\n")
	ours := strings.Split(strings.TrimSpace(nib), "\n")
	if len(theirs) != len(ours) || peer == "" {
		t.Fatalf("peer has %d lines, nib %d\n%s\n%s", len(theirs), len(ours), peer, nib)
	}
	for i := range theirs {
		err := differences(decodeLine(t, ours[i]), decodeLine(t, theirs[i]), nil)
		if err != nil {
			t.Errorf("%v\nnib  %s\npeer %s", err, ours[i], theirs[i])
		}
	}
}

func nibUnder(w io.Writer, l nib.Layout) *nib.Logger {
	return nib.New(w, nib.WithLayout(l), nib.WithLevel(nib.LevelTrace), nib.WithCaller(),
		nib.WithClock(func() time.Time { return whole }), nib.WithExit(func(int) {}))
}

// quiet calls f and recovers from its panic.
func quiet(f func()) {
	defer func() { _ = recover() }()
	f()
}

func zapProduction(w io.Writer, options ...zap.Option) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(w), zap.DebugLevel), options...)
}

// zapClock always returns the same time.
type zapClock struct{}

func (zapClock) Now() time.Time                       { return whole }
func (zapClock) NewTicker(time.Duration) *time.Ticker { return nil } // nothing is buffered

// A richError prints more with %+v, like errors of github.com/pkg/errors.
type richError struct{}

func (richError) Error() string { return "gone" }

func (richError) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, "gone")
	if s.Flag('+') {
		_, _ = io.WriteString(s, "\nat home")
	}
}

// An errorGroup is several errors to zap, like errors of go.uber.org/multierr.
type errorGroup []error

func (g errorGroup) Error() string   { return "several" }
func (g errorGroup) Errors() []error { return g }

func TestLayoutZap(t *testing.T) {
	var peer, own bytes.Buffer
	z := zapProduction(&peer, zap.AddCaller(), zap.WithClock(zapClock{})).Named("db")
	n := nibUnder(&own, layout.Zap()).Named("db")
	group := errorGroup{errGone, richError{}}

	// Both calls are on one line, so that the call site is the same.
	func() { z.Debug("m"); n.Debug().Msg("m") }()
	func() { z.Info("m", zap.String("s", "x")); n.Info().Str("s", "x").Msg("m") }()
	func() { z.Info("m", zap.Int("i", -1)); n.Info().Int("i", -1).Msg("m") }()
	func() { z.Info("m", zap.Duration("d", layoutTook)); n.Info().Dur("d", layoutTook).Msg("m") }()
	func() { z.Warn("m", zap.Time("t", whole)); n.Warn().Time("t", whole).Msg("m") }()
	func() { z.Warn("m", zap.Float64("f", 0.1)); n.Warn().Float64("f", 0.1).Msg("m") }()
	func() { z.Error("m", zap.Error(errGone)); n.Error().Err(errGone).Msg("m") }()
	func() { z.Error("m", zap.Error(richError{})); n.Error().Err(richError{}).Msg("m") }()
	func() { z.Error("m", zap.Error(group)); n.Error().Err(group).Msg("m") }()
	func() { quiet(func() { z.Panic("m") }); quiet(func() { n.Panic().Msg("m") }) }()
	compareLines(t, peer.String(), own.String())
}

// zap leaves out the outermost frame, which is the runtime's, and the last
// newline.
func TestLayoutZapStack(t *testing.T) {
	var peer, own bytes.Buffer
	z := zapProduction(&peer, zap.AddStacktrace(zap.ErrorLevel))
	n := nib.New(&own, nib.WithLayout(layout.Zap()), nib.WithStack(nib.LevelError))
	func() { z.Error("m"); n.Error().Msg("m") }()
	want, got := decodeLine(t, peer.String())["stacktrace"], decodeLine(t, own.String())["stacktrace"]
	if !strings.HasPrefix(got.(string), want.(string)+"\nruntime.") {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestLayoutZerolog(t *testing.T) {
	now := zerolog.TimestampFunc
	zerolog.TimestampFunc = func() time.Time { return whole }
	defer func() { zerolog.TimestampFunc = now }()
	var peer, own bytes.Buffer
	z := zerolog.New(&peer).With().Timestamp().Caller().Logger()
	n := nibUnder(&own, layout.Zerolog())
	func() { z.Trace().Msg("m"); n.Trace().Msg("m") }()
	func() { z.Debug().Msg("m"); n.Debug().Msg("m") }()
	func() { z.Info().Str("s", "x").Msg("m"); n.Info().Str("s", "x").Msg("m") }()
	func() { z.Info().Int("i", -1).Msg("m"); n.Info().Int("i", -1).Msg("m") }()
	func() { z.Info().Dur("d", layoutTook).Msg("m"); n.Info().Dur("d", layoutTook).Msg("m") }()
	func() { z.Warn().Time("t", whole).Msg("m"); n.Warn().Time("t", whole).Msg("m") }()
	func() { z.Warn().Float64("f", 0.1).Msg("m"); n.Warn().Float64("f", 0.1).Msg("m") }()
	func() { z.Error().Err(errGone).Msg("m"); n.Error().Err(errGone).Msg("m") }()
	func() { quiet(func() { z.Panic().Msg("m") }); quiet(func() { n.Panic().Msg("m") }) }()
	func() { z.WithLevel(zerolog.FatalLevel).Msg("m"); n.Fatal().Msg("m") }()
	func() { z.Log().Msg("m"); n.Log().Msg("m") }()
	func() { z.Info().Send(); n.Info().Send() }()
	compareLines(t, peer.String(), own.String())
}

func TestLayoutLogrus(t *testing.T) {
	var peer, own bytes.Buffer
	logger := logrus.New()
	logger.SetOutput(&peer)
	logger.SetLevel(logrus.TraceLevel)
	logger.SetFormatter(&logrus.JSONFormatter{})
	logger.SetReportCaller(true)
	logger.ExitFunc = func(int) {}
	r := logger.WithTime(whole)
	n := nibUnder(&own, layout.Logrus())
	// Within one function, because it is named in the line.
	func() { r.Trace("m"); n.Trace().Msg("m") }()
	func() { r.Debug("m"); n.Debug().Msg("m") }()
	func() { r.Info("m"); n.Info().Msg("m") }()
	func() { r.Warn("m"); n.Warn().Msg("m") }()
	func() { r.WithError(errGone).Error("m"); n.Error().Err(errGone).Msg("m") }()
	func() { r.WithError(nil).Error("m"); n.Error().Err(nil).Msg("m") }()
	func() { r.WithField("d", layoutTook).Info("m"); n.Info().Dur("d", layoutTook).Msg("m") }()
	func() { r.WithField("f", 0.1).Info("m"); n.Info().Float64("f", 0.1).Msg("m") }()
	func() { r.WithField("t", whole).Info("m"); n.Info().Time("t", whole).Msg("m") }()
	func() { r.Fatal("m"); n.Fatal().Msg("m") }()
	compareLines(t, peer.String(), own.String())
}
