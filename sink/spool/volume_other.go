// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spool

// volumeOf knows nothing.
func volumeOf(string) volume { return volume{} }
