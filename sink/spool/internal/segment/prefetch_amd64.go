// SPDX-License-Identifier: Apache-2.0

//go:build !race

package segment

// prefetchLine begins to load the cache line of p. It never faults.
//
//go:noescape
func prefetchLine(p *byte)
