// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package setup

// cgo reports whether the program uses cgo: then the runtime detects no
// deadlock.
const cgo = true
