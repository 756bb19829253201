// SPDX-License-Identifier: Apache-2.0

//go:build go1.27

package nib

// Val adds a value of any type without a box; see the function [Val]. Methods
// have type parameters from Go 1.27 on.
func (e *Event) Val[T any](key string, v T) *Event {
	if e != nil {
		Val(e, key, v)
	}
	return e
}

// Inline adds the fields of a struct at this level; see the function [Inline].
func (e *Event) Inline[T any](v T) *Event {
	if e != nil {
		Inline(e, v)
	}
	return e
}
