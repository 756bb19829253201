// SPDX-License-Identifier: Apache-2.0

// Package jsonscan reads JSON text (RFC 8259) without building values. The
// functions keep no state, so any number of goroutines may call them, and they
// allocate only to grow the slice they append to.
package jsonscan

import "errors"

// ErrSyntax says that the text is not one JSON value. ErrorOffset finds the
// place; the error does not carry it, because it would have to be allocated.
var ErrSyntax = errors.New("nib/jsonscan: not valid JSON")

// ErrDepth says that arrays and objects are nested deeper than allowed.
var ErrDepth = errors.New("nib/jsonscan: JSON nested too deep")
