// SPDX-License-Identifier: Apache-2.0

// Package arch holds the tests of the architecture: which package may import
// which, how large files and functions may grow, how wide lines are, which
// phrases documents avoid, where unsafe, linkname and assembly may be used, the
// size of a program that imports nib and the goroutines it starts. It has no
// other content.
//
// The rules are tables at the top of the test files. Each check is a function
// from a tree of files to a list of violations; it first runs on small bad
// trees, to detect a check that cannot fail.
//
// The go command does not see all files that the tests depend on, so a cached
// result means nothing: run them with -count=1, as "make arch" does.
package arch
