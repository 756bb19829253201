// SPDX-License-Identifier: Apache-2.0

// Locked has a function for each fast path whose machine code is read.
package main

import (
	"io"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/pool"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/spool"
)

//go:noinline
func poolGet(p *pool.Pool[[]byte]) []byte { return p.Get() }

//go:noinline
func poolPut(p *pool.Pool[[]byte], v []byte) { p.Put(v) }

//go:noinline
func buffersGet(p *pool.Buffers) *pool.Buffer { return p.Get(4096) }

//go:noinline
func buffersPut(p *pool.Buffers, b *pool.Buffer) { p.Put(b) }

//go:noinline
func disabled(l *nib.Logger) { l.Debug().Str("key", "text").Msg("message") }

//go:noinline
func message(l *nib.Logger) { l.Info().Msg("message") }

//go:noinline
func record(s *spool.Sink, r *nib.Record) error { return s.WriteRecord(r) }

//go:noinline
func counted(s nib.Sink, r *nib.Record) error { return s.WriteRecord(r) }

func main() {
	values := pool.New(func() []byte { return nil })
	poolPut(values, poolGet(values))
	var buffers pool.Buffers
	buffersPut(&buffers, buffersGet(&buffers))
	discard, file := nib.New(io.Discard), nib.New(os.Stdout)
	disabled(discard)
	message(discard)
	message(file)
	lines, err := spool.Open("", nil, spool.Config{})
	if err == nil {
		_ = record(lines, new(nib.Record))
	}
	_ = counted(sink.Filter(lines, func(*nib.Record) bool { return true }), new(nib.Record))
}
