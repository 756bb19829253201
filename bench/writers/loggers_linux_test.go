// SPDX-License-Identifier: Apache-2.0

package writers

import (
	"io"
	"log"
	"log/slog"

	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog"
	"github.com/sirupsen/logrus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// A library is a logger that is configured as a service would, but for its
// output.
type library struct {
	Name   string
	Layout nib.Layout                         // of its lines
	New    func(w io.Writer) func(msg string) // returns a function that logs msg at level info
}

var libraries = []library{
	{"zap", layout.Zap(), func(w io.Writer) func(msg string) {
		encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
		l := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(w), zap.InfoLevel))
		return func(msg string) { l.Info(msg) }
	}},
	{"zerolog", layout.Zerolog(), func(w io.Writer) func(msg string) {
		l := zerolog.New(w).With().Timestamp().Logger()
		return func(msg string) { l.Info().Msg(msg) }
	}},
	{"logrus", layout.Logrus(), func(w io.Writer) func(msg string) {
		l := logrus.New()
		l.SetFormatter(&logrus.JSONFormatter{})
		l.SetOutput(w)
		return func(msg string) { l.Info(msg) }
	}},
	{"slog", layout.Slog(), func(w io.Writer) func(msg string) {
		l := slog.New(slog.NewJSONHandler(w, nil))
		return func(msg string) { l.Info(msg) }
	}},
	{"phuslu", nib.Layout{}, func(w io.Writer) func(msg string) {
		l := phuslu.Logger{Writer: &phuslu.IOWriter{Writer: w}}
		return func(msg string) { l.Info().Msg(msg) }
	}},
	{"log", nib.Layout{}, func(w io.Writer) func(msg string) {
		l := log.New(w, "", log.LstdFlags)
		return func(msg string) { l.Print(msg) }
	}},
}
