// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package callsite

// HasFast reports whether this processor has [Fast].
const HasFast = false

// Fast returns 0 on this processor: use [PC].
func Fast() uintptr { return 0 }
