// SPDX-License-Identifier: Apache-2.0

// Package jsonread reads JSON text (RFC 8259) without building values, and
// edits finished log lines. It is the only reader of JSON in the module, as
// package jsonenc is the only writer.
//
// # Reading
//
// [AppendCompact] and [Valid] check a value of unknown origin. [Lookup],
// [Locate] and [Fields] find the members of an object, [AppendUnquoted] and
// [DecodeRune] decode strings. They keep no state, so any number of goroutines
// may call them, and they allocate only to grow the slice they append to.
//
// # Editing
//
// [Redact] masks secrets, [Duplicates] applies a policy to repeated keys,
// [Shorten] cuts a line that is too long. A caller that needs several applies
// them in this order: a secret is masked before anything is cut off it, and a
// removed duplicate needs no cutting.
//
// The line is one JSON object as package jsonenc writes it: without white space
// outside of strings, in UTF-8, with or without a newline at its end. Members
// that need no edit may be left out in front of it, so that it begins with a
// comma. These functions scan it without validating it; see line.go. Each
// appends the edited line to dst, with the newline if there was one, and
// returns the extended slice. dst and line must not overlap. A line that is not
// such an object makes no function panic; the result is then no more valid than
// the line.
//
// These functions keep no state except in a [Scratch], so any number of
// goroutines may call them with different slices and Scratches. They allocate
// only to grow dst and the Scratch; dst may need room for the line and its
// longest string once more. The time is proportional to the line, and to its
// logarithm where they sort.
package jsonread

import "errors"

// ErrSyntax means that the text is not one JSON value. ErrorOffset finds the
// place; the error does not carry it, because it would have to be allocated.
var ErrSyntax = errors.New("nib/jsonread: not valid JSON")

// ErrDepth means that arrays and objects are nested deeper than allowed.
var ErrDepth = errors.New("nib/jsonread: JSON nested too deep")
