// SPDX-License-Identifier: Apache-2.0

// Package callsite finds the position of a log call in the source, cheaply: the
// program counter of the call on each line, and its text once per program
// counter.
//
// A program counter here is always a return address, the form that
// [runtime.Callers] fills in and [runtime.CallersFrames] expects.
package callsite
