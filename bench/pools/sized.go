// SPDX-License-Identifier: Apache-2.0

package pools

import (
	stdlist "container/list"
	"fmt"
	"sync"

	"github.com/bytedance/gopkg/lang/mcache"
	"github.com/valyala/bytebufferpool"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/pool"
	"github.com/nib-log/nib/pool/list"
)

const pageSize = 4096

// touch writes to both ends of a buffer, which must have the full size.
func touch(b []byte) { b[0], b[pageSize-1] = 1, 1 }

// sized returns pools for buffers of any size.
func sized() []measure.Contestant {
	pointer := sync.Pool{New: func() any { b := make([]byte, pageSize); return &b }}
	var own pool.Buffers
	var other bytebufferpool.Pool
	return []measure.Contestant{
		{Name: "nib", New: func(measure.Place) (measure.Run, error) {
			return measure.Run{Check: func() error { return healthy(own.Stats()) }, Do: func(n int) {
				for range n {
					b := own.Get(pageSize)
					b.B = b.B[:pageSize]
					touch(b.B)
					own.Put(b)
				}
			}}, nil
		}},
		plain("mcache", func(n int) {
			for range n {
				b := mcache.Malloc(pageSize)
				touch(b)
				mcache.Free(b)
			}
		}),
		plain("bytebufferpool", func(n int) {
			for range n {
				b := other.Get()
				if cap(b.B) < pageSize { // the pool learns the size
					b.B = make([]byte, pageSize)
				}
				b.B = b.B[:pageSize]
				touch(b.B)
				other.Put(b)
			}
		}),
		plain(syncPointer, func(n int) {
			for range n {
				b := pointer.Get().(*[]byte)
				touch(*b)
				pointer.Put(b)
			}
		}),
	}
}

// healthy checks that no buffer got lost or was refused.
func healthy(s pool.BuffersStats) error {
	if s.Puts != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) || s.Dropped+s.Misused+s.Outgrown > 0 {
		return fmt.Errorf("buffers got lost: %+v", s)
	}
	return nil
}

// firstElement is the first number in a list: Go has preallocated interface
// values for smaller ones, which would save container/list an allocation.
const firstElement = 256

// lists returns the list that recycles its nodes, and the one of the standard
// library.
func lists() []measure.Contestant {
	var own list.List[int]
	var std stdlist.List
	return []measure.Contestant{
		plain("nib", func(n int) {
			for i := range n {
				own.PushBack(firstElement + i)
				own.Remove(own.Front())
			}
		}),
		plain("container/list", func(n int) {
			for i := range n {
				std.PushBack(firstElement + i)
				std.Remove(std.Front())
			}
		}),
	}
}
