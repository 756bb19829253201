// SPDX-License-Identifier: Apache-2.0

// Package arch holds the tests of the architecture: which folder may import
// which, how large files, functions and the root package may grow, where
// unsafe, linkname and assembly may be used, how large a program that imports
// nib is and what it starts. It has no other content.
//
// The rules are tables at the top of the test files. Each check is a function
// from a tree of files to a list of violations; it is tried on small bad trees
// first, so that a check that cannot fail is found.
//
// The go command does not see all files that the tests depend on, so a cached
// result means nothing: run them with -count=1, as "make arch" does.
package arch
