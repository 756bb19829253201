// SPDX-License-Identifier: Apache-2.0

package usercode

import "unsafe"

// stackAddress is a place on the stack of the calling goroutine, as a number
// that says roughly where that stack lies. Nothing is read or written through
// it, so it need not stay right when the stack is moved.
func stackAddress() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}
