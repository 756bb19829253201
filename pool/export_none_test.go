// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast || !amd64 || race

package pool

// StayPinned does nothing: in this build shards belong to no processor.
func (p *Pool[T]) StayPinned() {}
