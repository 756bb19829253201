// SPDX-License-Identifier: Apache-2.0

package nib

import "github.com/nib-log/nib/internal/contract"

// A Secret holds a value that must not get into a log: package fmt under every
// verb, JSON, slog and nib show *** in its place, also where it is a part of
// something else. It holds the value by a pointer, so that even code that reads
// memory, as fmt does with unexported fields, sees only an address.
type Secret[T any] struct {
	mask
	value *T
}

type mask = contract.SecretMask

// NewSecret keeps v secret.
func NewSecret[T any](v T) Secret[T] { return Secret[T]{value: &v} }

// Reveal returns the value; that of the zero Secret is the zero T.
func (s Secret[T]) Reveal() (v T) {
	if s.value != nil {
		v = *s.value
	}
	return v
}
