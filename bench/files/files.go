// SPDX-License-Identifier: Apache-2.0

// Package files compares ways to log to a file that is rotated: whole loggers
// with ten fields, and the writers of files alone.
package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/phuslu/log"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/sink/file"
)

const (
	mebibyte   = 1 << 20 // the only unit of sizes that all contestants have
	keep       = 2       // old files
	bufferSize = 64 << 10
	lines      = 10_000 // in a round

	phuslu    = "phuslu"
	lumberjk  = "lumberjack"
	zerologJk = "zerolog+lumberjack"
)

// Set returns the set of the files.
func Set() measure.Set {
	calls := bench.Set()
	usual, large := writers(16, usualLine), writers(1, thousandth)
	return measure.Set{
		Name: "files", Path: "docs/files.md",
		Note: "Nanoseconds of one line; what is held back is written within the round. Files are " +
			"rotated " +
			"at the same size by all who can.",
		Modules: append(calls.Modules,
			measure.Module{Name: lumberjk, Path: "gopkg.in/natefinch/lumberjack.v2"}),
		Tables: []measure.Table{
			{Title: "A logger with ten fields", Scenarios: []measure.Scenario{
				{Name: "FileFields", Title: "loggers, one goroutine", Versus: zerologJk, Ops: lines,
					Same: sameFields, Contestants: loggers},
				{Name: "FileFields8", Title: "loggers, 8 goroutines", Versus: zerologJk, Ops: lines,
					Goroutines: 8, Same: sameFields, Contestants: loggers},
			}},
			{Title: "The writers alone",
				Note: "All are given the same bytes, so that nothing but writing is " +
					"timed. *os.File* is what the system itself takes: it is never rotated. phuslu's async writer " +
					"is not among them, since it keeps the bytes that it is given.",
				Scenarios: []measure.Scenario{
					{Name: "FileWrite", Title: "writers, one goroutine", Versus: lumberjk,
						Ops:  lines,
						Same: measure.Only(usualLine), Contestants: usual},
					{Name: "FileWrite8", Title: "writers, 8 goroutines", Versus: lumberjk,
						Ops:        lines,
						Goroutines: 8, Same: measure.Only(usualLine), Contestants: usual},
					// zap's buffer gives lumberjack so many lines at once that several
					// rotations occur within a millisecond. Lumberjack gives these files the
					// same name, so it would be timed for lines that it loses.
					{Name: "FileRotate", Title: "writers, a new file every 1,000 lines",
						Versus: lumberjk,
						Ops:    lines, Same: measure.Only(thousandth), Contestants: large[:4]},
				}},
		},
	}
}

func sameFields(c *measure.Contestant, text []byte) error {
	library, _, _ := strings.Cut(c.Name, "+")
	library, _, _ = strings.Cut(library, "-")
	return bench.SameFields(library, text)
}

// loggers write the ten fields, each with its own loop over them, which package
// bench has.
var loggers = []measure.Contestant{
	{Name: "nib", New: func(p measure.Place) measure.Run { return nibFields(p, 0) }},
	{Name: "nib-buffered", New: func(p measure.Place) measure.Run {
		return nibFields(p, bufferSize)
	}},
	calls("zerolog", "TenFields", zerologJk),
	calls("zap", "TenFields", "zap+lumberjack"),
	calls("zap", "Buffered", "zap-buffered+lumberjack"),
	{Name: phuslu, New: func(p measure.Place) measure.Run {
		w := phusluFile(p, 16)
		l := &log.Logger{Level: log.InfoLevel, Writer: w}
		return measure.Run{Do: func(n int) { bench.PhusluTen(l, n) }, Close: w.Close}
	}},
	{Name: "phuslu-async", New: phusluAsync},
	calls("slog", "TenFields", "slog"),
	calls("logrus", "TenFields", "logrus+lumberjack"),
}

// calls returns a contestant that logs into lumberjack's writer, or into a file
// that is never rotated if it has the name of the library alone.
func calls(library, row, name string) measure.Contestant {
	return measure.Contestant{Name: name, New: func(p measure.Place) measure.Run {
		var w io.WriteCloser = newLumberjack(p, 16)
		if name == library {
			w = openFile(p)
		}
		r := bench.PeerOf(library).Rows[row](measure.Place{W: w})
		r.Close = w.Close
		return r
	}}
}

// phusluAsync is phuslu with the writer that its documentation recommends for
// speed, and the size of its channel there. Only Close flushes it, so each
// round has a new writer, whose file is opened before the round.
func phusluAsync(p measure.Place) measure.Run {
	l := &log.Logger{Level: log.InfoLevel}
	var w *log.AsyncWriter
	var f *log.FileWriter
	renew := func(int) {
		if f != nil {
			_ = f.Close() // closed again, if it was flushed
		}
		f = phusluFile(p, 16)
		_ = f.Rotate() // opens the file
		w = &log.AsyncWriter{ChannelSize: 4096, Writer: f}
		l.Writer = w
	}
	renew(0)
	return measure.Run{
		Do:      func(n int) { bench.PhusluTen(l, n) },
		Flush:   func() { _ = w.Close() },
		Prepare: renew,
		Close:   func() error { return f.Close() },
	}
}

func path(p measure.Place) string { return filepath.Join(p.Dir, "app.log") }

func newLumberjack(p measure.Place, size int) *lumberjack.Logger {
	return &lumberjack.Logger{Filename: path(p), MaxSize: size, MaxBackups: keep}
}

// phusluFile names files by the millisecond here, as lumberjack does: by
// default two rotations within a second go to one file.
func phusluFile(p measure.Place, size int64) *log.FileWriter {
	return &log.FileWriter{Filename: path(p), MaxSize: size * mebibyte, MaxBackups: keep,
		FileMode: 0o600, TimeFormat: log.TimeFormatUnixMs}
}

func openFile(p measure.Place) *os.File {
	return measure.Must(os.OpenFile(path(p), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
}

func nibFields(p measure.Place, buffer int) measure.Run {
	r, s := sinkRun(p, 16, buffer)
	l := nib.NewSink(s)
	r.Do = func(n int) { bench.NibTen(l, n) }
	return r
}

// sinkRun opens nib's sink. Its check is for lost lines, which the sink counts
// because a logger returns no errors to its callers.
func sinkRun(p measure.Place, size int64, buffer int) (measure.Run, *file.Sink) {
	s := measure.Must(file.Open(path(p),
		file.Config{MaxSize: size * mebibyte, MaxBackups: keep, Buffer: buffer}))
	r := measure.Run{Close: s.Close, Check: func() error {
		if st := s.Stats(); st.Lost() > 0 || st.Errors > 0 {
			return fmt.Errorf("%d lines lost, %d errors", st.Lost(), st.Errors)
		}
		return nil
	}}
	if buffer > 0 {
		r.Flush = func() { _ = s.Flush(context.Background()) } // losses are counted
	}
	return r, s
}

// usualLine is the line that nib writes in the contest of loggers.
var usualLine = []byte(`{"time":"2026-03-14T09:26:53.589Z","level":"info","method":"GET",` +
	`"path":"/v1/accounts/7361/orders","request":"01J9Z5T8QXW3M7KD","status":200,"size":18342,` +
	`"trace":17293822569102704642,"cached":true,"load":0.8731,"took":1.834512,` +
	`"started":"2026-03-14T09:26:53.589Z","message":"request served"}` + "\n")

// thousandth is a line of such a size that exactly 1,000 lines fit into a MiB.
var thousandth = []byte(`{"message":"` + strings.Repeat("x", mebibyte/1000-15) + `"}` + "\n")

// writers returns writers of the same line.
func writers(size int64, line []byte) []measure.Contestant {
	loop := func(write func(p []byte) (int, error)) func(n int) {
		return func(n int) {
			for range n {
				if _, err := write(line); err != nil {
					panic(fmt.Sprintf("files: %v", err))
				}
			}
		}
	}
	sink := func(buffer int) func(p measure.Place) measure.Run {
		return func(p measure.Place) measure.Run {
			r, s := sinkRun(p, size, buffer)
			record := nib.Record{Level: nib.LevelInfo, Line: line}
			r.Do = loop(func([]byte) (int, error) { return 0, s.WriteRecord(&record) })
			return r
		}
	}
	plain := func(open func(p measure.Place) io.WriteCloser) func(p measure.Place) measure.Run {
		return func(p measure.Place) measure.Run {
			w := open(p)
			return measure.Run{Do: loop(w.Write), Close: w.Close}
		}
	}
	return []measure.Contestant{
		{Name: "nib", New: sink(0)},
		{Name: "nib-buffered", New: sink(bufferSize)},
		{Name: lumberjk, New: plain(func(p measure.Place) io.WriteCloser {
			return newLumberjack(p, int(size))
		})},
		{Name: phuslu, New: plain(func(p measure.Place) io.WriteCloser {
			return phusluFile(p, size)
		})},
		{Name: "zap-buffer+lumberjack", New: func(p measure.Place) measure.Run {
			w := newLumberjack(p, int(size))
			b := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(w), Size: bufferSize}
			return measure.Run{Do: loop(b.Write), Flush: func() { _ = b.Sync() },
				Close: func() error { _ = b.Stop(); return w.Close() }}
		}},
		{Name: "os.File", New: plain(func(p measure.Place) io.WriteCloser { return openFile(p) })},
	}
}
