// SPDX-License-Identifier: Apache-2.0

// Package arch holds the tests of the architecture: which package may import
// which, how large lines, functions, files, types and programs may grow, which
// phrases documents avoid, what they promise. It has no other content.
//
// A check is a function from a tree of files to faults. In testdata are tables
// of the rules, what they accept, and for each check a bad tree with the faults
// that it must find. With -short nothing is built. The counts of wide lines,
// phrases and exported names are stored by
//
//	go test ./internal/arch -run Ratchet -update
//
// Results are not to be cached: the go command does not see all files that the
// tests read.
package arch
