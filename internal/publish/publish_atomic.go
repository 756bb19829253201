// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package publish

import "sync/atomic"

// Plain reports whether the stores are plain ones, so that a locked instruction
// elsewhere would be the only one.
const Plain = false

// Uint32 stores v in *p with release order.
func Uint32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// Uint64 stores v in *p with release order. On 32-bit processors p must be
// aligned to 8 bytes.
func Uint64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
