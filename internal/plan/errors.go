// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"reflect"
	"strconv"
)

// An Error describes a value that could not be encoded, and where it is.
type Error struct {
	Path string // path from the outermost type: Order.Items[3].Price
	Err  error  // the fault at that path

	whole bool // the path is only the type

	tag bool // the type is wrong, such as a tag in it: no value can be encoded
}

func (e *Error) Error() string { return "nib/schema: " + e.Path + ": " + e.Err.Error() }

// Text returns the text that replaces the value in a line: the error, and the
// path if the error is within the value.
func (e *Error) Text() string {
	if e.whole {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// ErrDepth is in the error for a value that nests deeper than its State allows.
var ErrDepth = errors.New("nested too deep")

// ErrSize is in the error for a value larger than [MaxSize], outside of a line.
var ErrSize = errors.New("larger than 64 MiB")

var errNotStruct = errors.New("not a struct, so it has no fields to add")

// failure begins an error. Each container that returns it prepends its step to
// the path.
func failure(err error) *Error { return &Error{Err: err} }

func (e *Error) in(step string) *Error {
	e.Path = step + e.Path
	return e
}

func (e *Error) inElement(i int) *Error { return e.in("[" + strconv.Itoa(i) + "]") }
func (e *Error) inKey(key string) *Error {
	return e.in("[" + strconv.Quote(key) + "]")
}

// of ends the path at the outermost type.
func (e *Error) of(t reflect.Type) error {
	e.whole = e.Path == ""
	return e.in(typeName(t))
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	if name := t.Name(); name != "" {
		return name
	}
	return t.String()
}

// fault returns the error for the type of p, with a path that callers may
// extend.
func (p *Plan) fault() *Error { return &Error{Path: p.props.bad.Path, Err: p.props.bad.Err} }
