// SPDX-License-Identifier: Apache-2.0

//go:build !race

package publish

// Plain reports whether the stores are plain ones, so that a locked instruction
// elsewhere would be the only one.
const Plain = true

// Uint32 stores v in *p with release order.
//
//go:noescape
func Uint32(p *uint32, v uint32)

// Uint64 stores v in *p with release order.
//
//go:noescape
func Uint64(p *uint64, v uint64)
