// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package setup

// cgo says whether this is a program in which the runtime sees no deadlock.
const cgo = true
