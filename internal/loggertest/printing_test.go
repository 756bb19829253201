// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package loggertest_test

import (
	"io"
	"log"
	"testing"
	"testing/synctest"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/logfmt"
)

// A selfPrinter prints while it writes its first line.
type selfPrinter struct {
	print func()
	lines int
}

func (w *selfPrinter) Write(p []byte) (int, error) {
	if w.lines++; w.lines == 1 {
		w.print()
	}
	return len(p), nil
}

// A line that the writer of a logger prints to this logger is written when the
// writer has returned. To wait for it is to wait until the limit has passed,
// which it never does in this bubble.
func TestPrintingFromTheWriterDoesNotWait(t *testing.T) {
	for name, behind := range map[string]func(w io.Writer) nib.Sink{
		"New":     nib.WriterSink,
		"console": func(w io.Writer) nib.Sink { return console.New(w, console.Config{}) },
		"logfmt":  func(w io.Writer) nib.Sink { return logfmt.New(w, logfmt.Config{}) },
		"Tee": func(w io.Writer) nib.Sink {
			return sink.Tee(nib.WriterSink(io.Discard), console.New(w, console.Config{}))
		},
		"Filter": func(w io.Writer) nib.Sink {
			all := func(*nib.Record) bool { return true }
			return sink.Filter(logfmt.New(w, logfmt.Config{}), all)
		},
		"Named": func(w io.Writer) nib.Sink { return sink.Named("w", nib.WriterSink(w)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var std *log.Logger
				w := &selfPrinter{print: func() { std.Print("inner") }}
				l := nib.NewSink(behind(w))
				std = l.StdLog(nib.LevelInfo)
				l.Info().Msg("outer")
				synctest.Wait()
				if w.lines != 2 {
					t.Errorf("got %d lines, want 2", w.lines)
				}
			})
		})
	}
}
