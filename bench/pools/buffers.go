// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"fmt"
	"sync"

	"github.com/bytedance/gopkg/lang/mcache"
	"github.com/valyala/bytebufferpool"

	"github.com/nib-log/nib/pool"
)

const pageSize = 4096

// buffers returns the contests of pools for buffers of any size.
func buffers() []Scenario {
	return []Scenario{
		{Name: "Buffers", Context: "buffers of 4 KiB", Title: "one goroutine", Versus: Mcache, Contestants: sized()},
		{Name: "BuffersParallel", Context: "buffers of 4 KiB", Title: "as many goroutines as processors", Versus: Mcache, Goroutines: cpus(),
			Contestants: sized()},
	}
}

// touch writes to both ends of a buffer, which must have the full size.
func touch(b []byte) { b[0], b[pageSize-1] = 1, 1 }

func sized() []Contestant {
	return []Contestant{
		{Nib, func(*Made) Run {
			var p pool.Buffers
			return Run{Check: func() error { return healthy(p.Stats()) }, Do: func(n int) {
				for range n {
					b := p.Get(pageSize)
					b.B = b.B[:pageSize]
					touch(b.B)
					p.Put(b)
				}
			}}
		}},
		{Mcache, func(*Made) Run {
			return Run{Do: func(n int) {
				for range n {
					b := mcache.Malloc(pageSize)
					touch(b)
					mcache.Free(b)
				}
			}}
		}},
		{ByteBuffer, func(*Made) Run {
			var p bytebufferpool.Pool
			return Run{Do: func(n int) {
				for range n {
					b := p.Get()
					if cap(b.B) < pageSize { // the pool learns the size
						b.B = make([]byte, pageSize)
					}
					b.B = b.B[:pageSize]
					touch(b.B)
					p.Put(b)
				}
			}}
		}},
		{SyncPointer, func(*Made) Run {
			p := sync.Pool{New: func() any { b := make([]byte, pageSize); return &b }}
			return Run{Do: func(n int) {
				for range n {
					b := p.Get().(*[]byte)
					touch(*b)
					p.Put(b)
				}
			}}
		}},
	}
}

// healthy checks that no buffer got lost or was refused.
func healthy(s pool.BuffersStats) error {
	if s.Puts != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) || s.Dropped+s.Misused+s.Outgrown > 0 {
		return fmt.Errorf("buffers got lost: %+v", s)
	}
	return nil
}
