// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file"
)

// usualLine is the line that nib writes in the contest of loggers.
var usualLine = []byte(`{"time":"2026-03-14T09:26:53.589Z","level":"info","method":"GET","path":"/v1/accounts/7361/orders",` +
	`"request":"01J9Z5T8QXW3M7KD","status":200,"size":18342,"trace":17293822569102704642,"cached":true,"load":0.8731,` +
	`"took":1.834512,"started":"2026-03-14T09:26:53.589Z","message":"request served"}` + "\n")

// thousandth is a line of such a size that exactly PerFile lines fit into a
// MiB.
var thousandth = padded(mebibyte / PerFile)

// padded returns a line of size bytes.
func padded(size int) []byte {
	const before, after = `{"time":"2026-03-14T09:26:53.589Z","level":"info","message":"`, `"}` + "\n"
	return []byte(before + strings.Repeat("x", size-len(before)-len(after)) + after)
}

// writers are given the same line. phuslu's AsyncWriter is not among them,
// because it keeps the slice that it is given and writes it later.
var writers = []Contestant{
	{Nib, func(p Place) (Run, error) { return sinkRun(p, 0) }},
	{NibBuffered, func(p Place) (Run, error) { return sinkRun(p, bufferSize) }},
	{Lumberjack, func(p Place) (Run, error) {
		w := p.lumberjack()
		return Run{Do: writeLoop(w.Write, p.Line), Close: w.Close}, nil
	}},
	{ZapBuffer, func(p Place) (Run, error) {
		b, w := p.zapBuffer()
		return Run{Do: writeLoop(b.Write, p.Line), Flush: func() { _ = b.Sync() }, Close: func() error { _ = b.Stop(); return w.Close() }}, nil
	}},
	{Phuslu, func(p Place) (Run, error) {
		w := p.phuslu()
		return Run{Do: writeLoop(w.Write, p.Line), Close: w.Close}, nil
	}},
	{OSFile, func(p Place) (Run, error) {
		f, err := p.open()
		if err != nil {
			return Run{}, err
		}
		return Run{Do: writeLoop(f.Write, p.Line), Close: f.Close}, nil
	}},
}

// rotating returns the writers that rotate every 1,000 lines. zap's buffer is
// not among them: it gives lumberjack so many lines at once that several
// rotations occur within a millisecond. Lumberjack gives these files the same
// name, so it would be timed for lines that it loses.
func rotating() []Contestant {
	var all []Contestant
	for _, c := range writers {
		if c.Name != ZapBuffer && c.Name != OSFile {
			all = append(all, c)
		}
	}
	return all
}

func sinkRun(p Place, buffer int) (Run, error) {
	s, err := p.sink(buffer)
	if err != nil {
		return Run{}, err
	}
	r := Run{Do: recordLoop(s, p.Line), Check: noneLost(s), Close: s.Close}
	if buffer > 0 {
		r.Flush = func() { _ = s.Flush(background) } // losses are counted; see noneLost
	}
	return r, nil
}

func recordLoop(s *file.Sink, line []byte) func(n int) {
	r := nib.Record{Level: nib.LevelInfo, Line: line}
	return func(n int) {
		for range n {
			if err := s.WriteRecord(&r); err != nil {
				panic(fmt.Sprintf("files: %v", err))
			}
		}
	}
}

// writeLoop includes the cost of a call through a function value, unlike
// recordLoop. It is far less than that of a write.
func writeLoop(write func(p []byte) (int, error), line []byte) func(n int) {
	return func(n int) {
		for range n {
			if _, err := write(line); err != nil {
				panic(fmt.Sprintf("files: %v", err))
			}
		}
	}
}
