// SPDX-License-Identifier: Apache-2.0

//go:build !linux || !amd64 || race

package pool

// In this build a caller cannot find out which processor runs it.

func processor() uintptr { return stackPage() }
func hasProcessor() bool { return false }
