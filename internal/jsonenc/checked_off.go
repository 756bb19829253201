// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package jsonenc

// checked reports whether the accesses of unsafe.go are checked.
const checked = false
