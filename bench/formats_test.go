// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/go-logr/stdr"
	"github.com/hashicorp/go-hclog"
	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
)

// A written is the line of a logger by default, for a message with a field.
type written struct {
	logger  string
	unit    time.Duration // of the time
	level   nib.Level
	message string // as nib reads it: text has the fields in it
	log     func(w io.Writer)
}

var writtenLines = []written{
	{"slog", time.Second, nib.LevelWarn, "it failed n=1", func(w io.Writer) {
		defer log.SetOutput(log.Writer())
		log.SetOutput(w)
		slog.Warn("it failed", "n", 1)
	}},
	{"slog, text", time.Millisecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		slog.New(slog.NewTextHandler(w, nil)).Warn("it failed", "n", 1)
	}},
	{"slog, JSON", time.Nanosecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		slog.New(slog.NewJSONHandler(w, nil)).Warn("it failed", "n", 1)
	}},
	{"zerolog", time.Second, nib.LevelWarn, "it failed", zerologWarns},
	{"zerolog, console", time.Minute, nib.LevelWarn, "it failed n=1", func(w io.Writer) {
		zerologWarns(zerolog.ConsoleWriter{Out: w, NoColor: true})
	}},
	{"zap, production", time.Microsecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		zapWarns(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), w)
	}},
	{"zap, development", time.Millisecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		zapWarns(zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), w)
	}},
	{"logrus", time.Second, nib.LevelWarn, "it failed", func(w io.Writer) {
		logrusWarns(new(logrus.TextFormatter), w)
	}},
	{"logrus, JSON", time.Second, nib.LevelWarn, "it failed", func(w io.Writer) {
		logrusWarns(new(logrus.JSONFormatter), w)
	}},
	{"phuslu", time.Millisecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		l := phuslu.DefaultLogger
		l.Writer = phuslu.IOWriter{Writer: w}
		l.Warn().Int("n", 1).Msg("it failed")
	}},
	{"hclog", time.Millisecond, nib.LevelWarn, "it failed: n=1", func(w io.Writer) {
		hclog.New(&hclog.LoggerOptions{Output: w}).Warn("it failed", "n", 1)
	}},
	{"hclog, JSON", time.Microsecond, nib.LevelWarn, "it failed", func(w io.Writer) {
		hclog.New(&hclog.LoggerOptions{Output: w, JSONFormat: true}).Warn("it failed", "n", 1)
	}},
	{"stdr", time.Second, nib.LevelInfo, "it failed", func(w io.Writer) {
		stdr.New(log.New(w, "", log.LstdFlags)).WithName("api").Info("it failed", "n", 1)
	}},
	{"stdr, error", time.Second, nib.LevelError, "it failed", func(w io.Writer) {
		stdr.New(log.New(w, "", log.LstdFlags)).Error(io.EOF, "it failed", "n", 1)
	}},
	{"logr, JSON", time.Microsecond, nib.LevelInfo, "it failed", func(w io.Writer) {
		logrJSON(w).Info("it failed", "n", 1)
	}},
	{"logr, JSON, error", time.Microsecond, nib.LevelError, "it failed", func(w io.Writer) {
		logrJSON(w).Error(io.EOF, "it failed", "n", 1)
	}},
}

func zerologWarns(w io.Writer) {
	l := zerolog.New(w).With().Timestamp().Logger()
	l.Warn().Int("n", 1).Msg("it failed")
}

func zapWarns(encoder zapcore.Encoder, w io.Writer) {
	core := zapcore.NewCore(encoder, zapcore.AddSync(w), zap.InfoLevel)
	zap.New(core, zap.AddCaller()).Warn("it failed", zap.Int("n", 1))
}

func logrusWarns(formatter logrus.Formatter, w io.Writer) {
	l := logrus.New()
	l.Out, l.Formatter = w, formatter
	l.WithField("n", 1).Warn("it failed")
}

func logrJSON(w io.Writer) logr.Logger {
	write := func(line string) { io.WriteString(w, line) }
	return funcr.NewJSON(write, funcr.Options{LogTimestamp: true})
}

// The loggers themselves write the lines, and package logread reads them.
func TestLinesOfLoggers(t *testing.T) {
	var out bytes.Buffer
	l := new(logread.Line)
	l.SetZone(time.Local)
	for _, c := range writtenLines {
		out.Reset()
		before := time.Now()
		c.log(&out)
		after := time.Now()
		line := bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
		l.Reset(line)
		at, ok := l.Time()
		level, _ := l.Level()
		message := l.Message()
		if l.Format() != logread.FormatText {
			message = l.Text(message)
		}
		// The seconds of zap are a float, which is rounded by up to 120 ns.
		if !ok || at.Before(before.Add(-c.unit)) || at.After(after.Add(time.Microsecond)) {
			t.Errorf("%s: %s: got the time %v, want %v", c.logger, line, at, before)
		}
		if level != c.level || string(message) != c.message {
			t.Errorf("%s: %s: got %v, %q, want %v, %q",
				c.logger, line, level, message, c.level, c.message)
		}
		t.Logf("%s: %s: %v, %v, %q", c.logger, line, at, level, message)
	}
}
