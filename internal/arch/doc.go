// SPDX-License-Identifier: Apache-2.0

// Package arch holds the tests of the architecture: which package may import
// which, how large lines, functions, files and types may grow, which phrases
// documents avoid, where unsafe, linkname and assembly may be used, the size of
// a program that imports nib and the goroutines it starts. It has no other
// content.
//
// The rules are tables at the top of the test files. Each check is a function
// from a tree of files to a list of violations; it first runs on a bad tree, to
// detect a check that cannot fail. With -short nothing is built.
//
// Counts of what should get rarer are stored in testdata/ratchet.txt. After
// mending some, store the lower counts:
//
//	go test ./internal/arch -run Ratchet -update
//
// The go command does not see all files that the tests depend on, so a cached
// result means nothing: run them with -count=1, as "make arch" does.
package arch
