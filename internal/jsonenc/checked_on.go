// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package jsonenc

// checked tells whether the accesses of unsafe.go are checked.
const checked = true
