// SPDX-License-Identifier: Apache-2.0

// Package binary reads executables: which functions are in an executable, which
// calls they make, and on which source lines, with every inlined frame.
//
// The machine code is the only place where inlining, devirtualisation, escape
// analysis and profile guidance have all been decided. It lacks the reasons,
// which package compiler provides; package verdict joins the two on the full
// inline stack.
//
// Functions are decoded on demand, because a walk from a few roots reaches a
// small part of a program.
package binary
