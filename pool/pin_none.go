// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast || !amd64 || race

package pool

import "time"

// In this build shards belong to the goroutine that locks them.
const pinnable = false

type (
	pinning struct{}
	pin     struct{ busy, open uint32 }
)

type owned[T any] struct{ count uint32 }

func (*owned[T]) begin(*table[T])  {}
func (*owned[T]) at(int) *shard[T] { return nil }
func (*shard[T]) leave(uint32)     {}

func (*pinning) isLocked() bool { return true }

func (d *depot[T]) findPinned(*table[T]) (v T, ok bool) { return v, false }
func (d *depot[T]) keepPinned(*table[T], T) bool        { return false }
func (t *table[T]) stop() (began time.Time)             { return began }
func (t *table[T]) resume(time.Time)                    {}

func procPin() int { return 0 }
func procUnpin()   {}
