// SPDX-License-Identifier: Apache-2.0

// Package writers has the loggers that write through [sink.NewWriter]. Its
// tests stop the reader of their output, end it, and fill their disk.
package writers

import (
	"io"
	"log"
	"log/slog"
	"os"

	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// A WriteSyncer is an *os.File or a sink.Writer.
type WriteSyncer interface {
	io.Writer
	Sync() error
}

// A Logger is a logger of another library.
type Logger struct {
	Name   string
	Layout nib.Layout                           // of its lines
	New    func(w WriteSyncer) func(msg string) // returns a function that logs msg at level info
}

// Loggers returns the loggers, configured as a service would, but for their
// output.
func Loggers() []Logger {
	return []Logger{
		{"zap", layout.Zap(), newZap},
		{"zerolog", layout.Zerolog(), newZerolog},
		{"logrus", layout.Logrus(), newLogrus},
		{"slog", layout.Slog(), newSlog},
		{"phuslu", nib.Layout{}, newPhuslu},
		{"log", nib.Layout{}, newLog},
	}
}

func newZap(w WriteSyncer) func(msg string) {
	if f, ok := w.(*os.File); ok {
		w = zapcore.Lock(f) // as zap's documentation requires
	}
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	l := zap.New(zapcore.NewCore(encoder, w, zap.InfoLevel))
	return func(msg string) { l.Info(msg) }
}

func newZerolog(w WriteSyncer) func(msg string) {
	l := zerolog.New(w).With().Timestamp().Logger()
	return func(msg string) { l.Info().Msg(msg) }
}

func newLogrus(w WriteSyncer) func(msg string) {
	l := logrus.New()
	l.SetFormatter(&logrus.JSONFormatter{})
	l.SetOutput(w)
	return func(msg string) { l.Info(msg) }
}

func newSlog(w WriteSyncer) func(msg string) {
	l := slog.New(slog.NewJSONHandler(w, nil))
	return func(msg string) { l.Info(msg) }
}

func newPhuslu(w WriteSyncer) func(msg string) {
	l := phuslu.Logger{Writer: &phuslu.IOWriter{Writer: w}}
	return func(msg string) { l.Info().Msg(msg) }
}

func newLog(w WriteSyncer) func(msg string) {
	l := log.New(w, "", log.LstdFlags)
	return func(msg string) { l.Print(msg) }
}
