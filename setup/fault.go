// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// A fault is one mistake in a configuration.
type fault struct {
	// where is the variable ("NIB_OUTPUT[1].max_size"), the JSON path
	// ("output[1].max_size", with the name of the file in front if it is
	// known), or the field ("Config.Output[1].max_size"). Lists are counted
	// from 0.
	where string
	err   error // the fault, and the values that are allowed
}

func (f *fault) Error() string { return "nib/setup: " + f.where + ": " + f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// A reading is the state of reading a configuration: the kinds of outputs, and
// the faults.
type reading struct {
	list  []error
	kinds []target.Spec

	uncheckedOutputs bool // the kinds of the outputs are not known yet
}

func (r *reading) add(where, format string, values ...any) {
	r.wrap(where, fmt.Errorf(format, values...))
}

// wrap adds err, or each of the errors that it joins. Errors of a target have
// the name of a parameter.
func (r *reading) wrap(where string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			r.wrap(where, err)
		}
	} else if p, ok := err.(*settings.ParamError); ok {
		if p.Param != "" {
			where += "." + p.Param
		}
		r.wrap(where, p.Err)
	} else if err != nil {
		r.list = append(r.list, &fault{where, err})
	}
}

func (r *reading) err() error { return errors.Join(r.list...) }

// place returns the name of the i-th element of a list.
func place(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
