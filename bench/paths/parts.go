// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

// The values of the fields. They are variables, so that no call has constants
// where another one has not.
var (
	message = "request served"
	path    = "/v1/accounts/7361/orders"
	name    = "alice"
	id      = "c-1234"
	status  = 200
	size    = 48231
	load    = 0.75
	cached  = true
	took    = 1834512 * time.Nanosecond
)

// user is in every line with these fields.
const user = `"user":"alice"`

func none(*nib.Event) {}

func six(e *nib.Event) {
	e.Str("path", path).Int("status", status).Int("size", size).Bool("cached", cached).
		Dur("took", took).Str("user", name)
}

func other(e *nib.Event) {
	e.Str("route", path).Int("items", status).Int("stock", size).Bool("member", cached).
		Float64("load", load).Str("cart", id)
}

func twelve(e *nib.Event) {
	six(e)
	other(e)
}

func twentyFour(e *nib.Event) {
	twelve(e)
	e.Str("from", path).Int("retries", status).Int("rows", size).Bool("first", cached).
		Dur("query", took).Str("owner", name)
	e.Str("to", path).Int("parts", status).Int("weight", size).Bool("gift", cached).
		Float64("tax", load).Str("order", id)
}

func attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("path", path), slog.Int("status", status), slog.Int("size", size),
		slog.Bool("cached", cached), slog.Duration("took", took), slog.String("user", name),
		slog.String("route", path), slog.Int("items", status), slog.Int("stock", size),
		slog.Bool("member", cached), slog.Float64("load", load), slog.String("cart", id),
	}
}

var (
	plain   = nib.New(io.Discard)
	sunk    = nib.NewSink(sink.Discard())
	discard = sink.Discard()
)

// line logs lines to l.
func line(l *nib.Logger, fields func(*nib.Event)) func(n int) {
	return func(n int) {
		for range n {
			e := l.Info()
			fields(e)
			e.Msg(message)
		}
	}
}

// off makes the calls of a line that is off.
func off(n int) {
	for range n {
		e := plain.Debug()
		six(e)
		e.Msg(message)
	}
}

// A keeper keeps the record of a line.
type keeper struct{ nib.Record }

func (k *keeper) WriteRecord(r *nib.Record) error {
	k.Record = *r
	k.Line = bytes.Clone(r.Line)
	at := bytes.Index(k.Line, r.Message)
	k.Message = k.Line[at : at+len(r.Message)]
	return nil
}

func record(level nib.Level, fields func(*nib.Event)) *nib.Record {
	var k keeper
	e := nib.NewSink(&k, nib.WithLevel(level)).At(level)
	fields(e)
	e.Msg(message)
	return &k.Record
}

var (
	short = record(nib.LevelInfo, six)
	long  = record(nib.LevelInfo, twelve)
	debug = record(nib.LevelDebug, six)
)

// write writes a record to s.
func write(s nib.Sink, r *nib.Record) func(n int) {
	return func(n int) {
		for range n {
			_ = s.WriteRecord(r)
		}
	}
}

// parts of a price are measured one after the other.
type parts []func(n int)

// The parts of prices. A part that is no log call is measured with variables of
// the package, so that the compiler keeps it.
var (
	buf   []byte
	total int
	table [256]uint8
	kept  any // what a part allocates
	made  [32]byte
	begun time.Time
	mu    sync.Mutex
	lines atomic.Uint64
	seed  = maphash.MakeSeed()
	rings = sync.Pool{New: func() any { return new(int) }}
)

func copies(text []byte) func(n int) {
	return func(n int) {
		for range n {
			buf = append(buf[:0], text...)
		}
	}
}

func look(text []byte) func(n int) {
	return func(n int) {
		for range n {
			sum := 0
			for _, c := range text {
				sum += int(table[c])
			}
			total += sum
		}
	}
}

func allocate(n int) {
	for range n {
		kept = new(request.Request)
	}
	read(kept)
}

// read reads what a part has computed or allocated.
func read(x any) {
	if x == nil {
		total = -total
	}
}

func makeID(n int) {
	for range n {
		var b [16]byte
		binary.NativeEndian.PutUint64(b[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(b[8:], rand.Uint64())
		hex.Encode(made[:], b[:])
	}
}

func formatTime(n int) {
	for range n {
		buf = begun.AppendFormat(buf[:0], "15:04:05.000")
	}
}

func readClock(n int) {
	for range n {
		begun = time.Now()
	}
}

func duration(n int) {
	for range n {
		total += int(time.Since(begun))
	}
}

func lock(n int) {
	for range n {
		mu.Lock()
		total++
		mu.Unlock()
	}
}

func count(n int) {
	for range n {
		lines.Add(1)
	}
}

func hashMessage(n int) {
	for range n {
		total += int(maphash.Bytes(seed, short.Message))
	}
}

func takeFromPool(n int) {
	for range n {
		p := rings.Get()
		rings.Put(p)
	}
}

// times performs a part k times.
func times(k int, do func(n int)) func(n int) { return func(n int) { do(k * n) } }
