// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package segment

func prefetchLine(*byte) {}
