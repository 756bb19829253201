// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast || !(amd64 || arm64)

package callsite

// HasFast reports whether this build has [Fast]: it needs -tags nibfast on
// amd64 or arm64.
const HasFast = false

// Fast returns 0 in this build: use [PC].
func Fast() uintptr { return 0 }
