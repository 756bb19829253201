// SPDX-License-Identifier: Apache-2.0

// Package arch holds the tests of the architecture: which folder may import
// which, how large files, functions and the root package may grow, where
// unsafe, linkname and assembly may stand, what a program that imports nib
// weighs and starts. It has no other content.
//
// The rules are tables at the top of the test files. Each check is a function
// from a tree of files to a list of violations; it is tried on small bad trees
// first, so that a check that cannot fail is found.
//
// The tests read files that the go command does not know they depend on, so a
// cached result means nothing: run them with -count=1, as "make arch" does.
package arch
