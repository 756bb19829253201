// SPDX-License-Identifier: Apache-2.0

package fix

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

var (
	long  = bytes.Repeat([]byte("GET /index.html "), 8)
	at    = time.Unix(1e9, 0)
	kept  = make([]byte, 0, 512)
	buf   bytes.Buffer
	list  = []string{"b", "a", "c"}
	ints  = make([]int, 100)
	log   = slog.New(slog.DiscardHandler)
	names string
	outs  []int
	yes   bool
	id    = 12345
	name  = "a name"
)

func each(b *testing.B, f func()) {
	b.ReportAllocs()
	for range b.N {
		f()
	}
}

func BenchmarkStamp(b *testing.B)  { each(b, func() { kept = Stamp(kept[:0], at) }) }
func BenchmarkAppend(b *testing.B) { each(b, func() { kept = Append(kept[:0], id, name) }) }
func BenchmarkPrint(b *testing.B)  { each(b, func() { buf.Reset(); Print(&buf, id, name) }) }
func BenchmarkIsGet(b *testing.B)  { each(b, func() { yes = IsGet(long) }) }
func BenchmarkDouble(b *testing.B) { each(b, func() { outs = Double(ints) }) }
func BenchmarkName(b *testing.B)   { each(b, func() { names = Name(name, id) }) }
func BenchmarkSame(b *testing.B)   { each(b, func() { yes = Same(long, name) }) }
func BenchmarkMatch(b *testing.B)  { each(b, func() { Match("aaa") }) }
func BenchmarkSort(b *testing.B)   { each(b, func() { Sort(list) }) }
func BenchmarkCopy(b *testing.B)   { each(b, func() { buf.Reset(); Copy(&buf, long) }) }
func BenchmarkPooled(b *testing.B) { each(b, func() { Pooled("text") }) }
func BenchmarkLog(b *testing.B)    { each(b, func() { Log(log, id, name) }) }
