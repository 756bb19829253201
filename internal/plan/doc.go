// SPDX-License-Identifier: Apache-2.0

// Package plan compiles types into plans, once, and encodes values as JSON with
// them. Package schema makes it public. It is not internal to that package,
// because events and templates of package nib encode with plans themselves.
//
// # How a value is encoded
//
// A [Plan] is made the first time a type is seen: reflection finds the fields,
// the tags, the methods, and the result is a flat list of operations, each with
// an offset into the value and the text that comes before it. A struct within a
// struct needs no operation: its fields are operations of the outer one, and
// its braces belong to the texts around them. Encoding is then one loop with
// one switch; reflection is left for maps of unusual types.
//
// The text equals the text of encoding/json in Go 1.26 without HTML escaping,
// except that
//
//   - strings are escaped as in package jsonenc, and bytes that are not UTF-8
//     become U+FFFD itself and not an escape sequence, in results of marshalers
//     as well;
//   - NaN and the infinities are the strings "NaN", "+Inf" and "-Inf" and no
//     error;
//   - containers nest at most as deep as the caller allows, which also ends
//     cycles, and a pointer to a pointer or to an interface counts as one;
//   - the tag log is supported: log:"-" leaves a field out, log:"mask" writes
//     "***" in its place, and log:"unit=s" (or ms, us, ns) writes a
//     [time.Duration] as a number of that unit;
//   - a value with a method IsSecret() is written "***", wherever it stands;
//   - in lines, the values that Line writes have their own form.
//
// # Properties of a type
//
// Package nib uses them to choose how to encode a value:
//
//	a plan is   if encoding a value                         then the value
//	Plain       runs no user code                           needs no guard
//	Hideable    keeps no pointer to it                      may be on the stack
//	Locked      that it copies may copy a lock              is refused
//	Methods     may be up to a method that nib knows        is asked for it
//
// Plain values are hideable and not locked.
//
// # Hidden pointers
//
// A value on the stack can be encoded in place if nothing keeps a pointer to
// it. [Plan.Hideable] reports whether that is so; the compiler cannot prove it,
// so [AppendValue] hides the pointer from escape analysis. The targets of
// pointers in the value are not hidden and are on the heap.
package plan
