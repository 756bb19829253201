// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"testing"

	"github.com/nib-log/nib/pool"
)

func benchmark[T any](b *testing.B, p *pool.Pool[T]) {
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Put(p.Get())
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.Put(p.Get())
			}
		})
	})
}

func BenchmarkBytes(b *testing.B) {
	benchmark(b, pool.New(func() []byte { return make([]byte, 0, 500) }))
}

func BenchmarkPointer(b *testing.B) {
	benchmark(b, pool.New(func() *quad { return new(quad) }))
}

func BenchmarkStructOf64Bytes(b *testing.B) {
	benchmark(b, pool.New(func() quad { return quad{} }))
}

func BenchmarkBuffers(b *testing.B) {
	var p pool.Buffers
	b.ReportAllocs()
	for b.Loop() {
		p.Put(p.Get(500))
	}
}
