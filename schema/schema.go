// SPDX-License-Identifier: Apache-2.0

// Package schema turns structs into JSON without reflection at run time: a
// [Codec] is made once from a type, and its calls follow a list of what to write
// where.
package schema

import (
	"github.com/nib-log/nib/internal/plan"
)

// A Codec encodes values of type T.
type Codec[T any] struct{ plan *plan.Plan }

// For returns the codec of T.
func For[T any]() (*Codec[T], error) {
	p := plan.For[T]()
	if err := p.Err(); err != nil {
		return nil, err
	}
	return &Codec[T]{p}, nil
}

// MustFor is For for package-level variables: it panics where For has an error.
func MustFor[T any]() *Codec[T] {
	c, err := For[T]()
	if err != nil {
		panic(err)
	}
	return c
}

// AppendJSON appends v.
func (c *Codec[T]) AppendJSON(dst []byte, v *T) ([]byte, error) {
	return plan.AppendPointer(c.plan, dst, v, plan.MaxDepth)
}

// AppendMap appends m, its keys sorted.
func AppendMap(dst []byte, m map[string]any) ([]byte, error) {
	return plan.AppendMap(dst, m, plan.MaxDepth)
}

// AppendAny appends v, whatever it is.
func AppendAny(dst []byte, v any) ([]byte, error) {
	return plan.AppendAny(dst, v, plan.MaxDepth)
}
