// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package callsite

// HasFast reports whether [Fast] may be called: not on this processor.
func HasFast() bool { return false }

// Fast returns 0 on this processor: use [PC].
func Fast() uintptr { return 0 }
