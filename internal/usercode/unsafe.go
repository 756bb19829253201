// SPDX-License-Identifier: Apache-2.0

package usercode

import "unsafe"

// stackAddress returns an address on the stack of the calling goroutine, which
// shows roughly where that stack is. Nothing is read or written through it, so
// it need not stay valid when the stack is moved.
func stackAddress() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}

// address returns p as a number.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
