// SPDX-License-Identifier: Apache-2.0

package schema

import "github.com/nib-log/nib/internal/plan"

// An Error reports why a value or a type cannot be encoded. It has two fields:
//
//	Path string // of the value, such as "Order.Items[3].Price"
//	Err  error  // returned by Unwrap
//
// Err is the error of a MarshalJSON or MarshalText method, an
// [encoding/json.UnsupportedTypeError], or describes the fault in the type.
type Error = plan.Error

// A Codec encodes values of type T. It is immutable and safe for concurrent
// use. [For] and [MustFor] make one; the zero Codec must not be used.
type Codec[T any] struct{ plan *plan.Plan }

// For returns the codec of T. The first call for a type makes its plan by
// reflection, which is kept for the life of the program; later calls take a few
// nanoseconds and allocate the Codec, which is one word.
//
// For returns an [*Error] if no value of T can be encoded, because a field that
// is always there holds a channel, function or complex number, or if T has an
// invalid tag with the key log.
func For[T any]() (*Codec[T], error) {
	p := plan.For[T]()
	if err := p.Err(); err != nil {
		return nil, err
	}
	return &Codec[T]{p}, nil
}

// MustFor returns the codec of T, and panics if For returns an error.
func MustFor[T any]() *Codec[T] {
	c, err := For[T]()
	if err != nil {
		panic(err)
	}
	return c
}

// AppendJSON appends *v to dst and returns the extended slice; a nil v is null.
// Methods with a pointer receiver are called with pointers into *v, as
// encoding/json does when it is given a pointer.
//
// It does not allocate, unless dst has to grow or methods of the values
// allocate. v escapes to the heap: to avoid an allocation, keep it in a
// variable that outlives the call.
//
// The error is an [*Error], also for a value of more than 64 MiB; dst is then
// returned at its old length, but the bytes after it may have changed. A panic
// in a method of a value is passed on to the caller.
func (c *Codec[T]) AppendJSON(dst []byte, v *T) ([]byte, error) {
	return plan.AppendPointer(c.plan, dst, v, plan.Outermost(dst))
}

// AppendMap appends m as an object with sorted keys, and its values as
// AppendAny appends them. A nil map is null. Cost and errors are as for
// [Codec.AppendJSON].
func AppendMap(dst []byte, m map[string]any) ([]byte, error) {
	return plan.AppendMap(dst, m, plan.Outermost(dst))
}

// AppendAny appends v, a value of any type, by the plan of its type, which is
// made when the type is first seen. A value in an interface has no address: as
// in encoding/json, methods with a pointer receiver count only if v is a
// pointer. Cost and errors are as for [Codec.AppendJSON].
func AppendAny(dst []byte, v any) ([]byte, error) {
	return plan.AppendAny(dst, v, plan.Outermost(dst))
}
