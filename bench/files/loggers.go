// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"fmt"
	"os"

	"github.com/phuslu/log"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/sink/file"
)

var background = context.Background()

// loggers write the ten fields of the scenario TenFields, each with its own
// loop over them, which package bench has.
var loggers = []Contestant{
	{Nib, func(p Place) (Run, error) {
		s, err := p.sink(0)
		if err != nil {
			return Run{}, err
		}
		return Run{Do: bench.NibFields(s).Do, Check: noneLost(s), Close: s.Close}, nil
	}},
	{NibBuffered, func(p Place) (Run, error) {
		s, err := p.sink(bufferSize)
		if err != nil {
			return Run{}, err
		}
		flush := func() { _ = s.Flush(background) } // losses are counted; see noneLost
		return Run{Do: bench.NibFields(s).Do, Flush: flush, Check: noneLost(s), Close: s.Close}, nil
	}},
	{Zerolog, func(p Place) (Run, error) {
		w := p.lumberjack()
		return Run{Do: peer("zerolog").Fields(w).Do, Close: w.Close}, nil
	}},
	{Zap, func(p Place) (Run, error) {
		w := p.lumberjack()
		return Run{Do: peer("zap").Fields(w).Do, Close: w.Close}, nil
	}},
	{ZapBuffered, func(p Place) (Run, error) {
		w := p.lumberjack()
		r := peer("zap").Buffered(w)
		return Run{Do: r.Do, Flush: r.Flush, Close: func() error { r.Close(); return w.Close() }}, nil
	}},
	{Phuslu, func(p Place) (Run, error) {
		w := p.phuslu()
		l := log.Logger{Level: log.InfoLevel, Writer: w}
		return Run{Do: bench.PhusluFields(&l).Do, Close: w.Close}, nil
	}},
	{PhusluAsync, phusluAsync},
	{Slog, func(p Place) (Run, error) {
		f, err := p.open()
		if err != nil {
			return Run{}, err
		}
		return Run{Do: peer("slog").Fields(f).Do, Close: f.Close}, nil
	}},
	{Logrus, func(p Place) (Run, error) {
		w := p.lumberjack()
		return Run{Do: peer("logrus").Fields(w).Do, Close: w.Close}, nil
	}},
}

// phusluAsync is phuslu with the writer that its documentation recommends for
// speed, and the size of its channel there. Only Close flushes it, so each
// round has a new writer, whose file is opened before the round.
func phusluAsync(p Place) (Run, error) {
	l := log.Logger{Level: log.InfoLevel}
	var w *log.AsyncWriter
	var f *log.FileWriter
	renew := func(int) {
		if f != nil {
			_ = f.Close() // closed again, if it was flushed
		}
		f = p.phuslu()
		_ = f.Rotate() // opens the file
		w = &log.AsyncWriter{ChannelSize: 4096, Writer: f}
		l.Writer = w
	}
	renew(0)
	return Run{
		Do:      bench.PhusluFields(&l).Do,
		Flush:   func() { _ = w.Close() },
		Prepare: renew,
		Close:   func() error { return f.Close() },
	}, nil
}

func (p Place) sink(buffer int) (*file.Sink, error) {
	return file.Open(p.Path(), file.Config{MaxSize: int64(p.MaxSize) * mebibyte, MaxBackups: p.Keep, Buffer: buffer})
}

func (p Place) lumberjack() *lumberjack.Logger {
	return &lumberjack.Logger{Filename: p.Path(), MaxSize: p.MaxSize, MaxBackups: p.Keep}
}

// phuslu names files by the millisecond here, as lumberjack does: by default
// two rotations within a second go to one file.
func (p Place) phuslu() *log.FileWriter {
	return &log.FileWriter{Filename: p.Path(), MaxSize: int64(p.MaxSize) * mebibyte, MaxBackups: p.Keep,
		FileMode: 0o600, TimeFormat: log.TimeFormatUnixMs}
}

func (p Place) zapBuffer() (*zapcore.BufferedWriteSyncer, *lumberjack.Logger) {
	w := p.lumberjack()
	return &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(w), Size: bufferSize}, w
}

func (p Place) open() (*os.File, error) {
	return os.OpenFile(p.Path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// noneLost returns the check for nib, which counts lost lines because a logger
// returns no errors to its callers.
func noneLost(s *file.Sink) func() error {
	return func() error {
		if st := s.Stats(); st.Lost() > 0 || st.Errors > 0 {
			return fmt.Errorf("%d lines lost, %d errors", st.Lost(), st.Errors)
		}
		return nil
	}
}
