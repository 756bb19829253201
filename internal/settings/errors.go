// SPDX-License-Identifier: Apache-2.0

package settings

// A ParamError is a mistake in one parameter of a target, or in all of it if
// the name is empty.
type ParamError struct {
	Param string
	Err   error
}

// Error returns the name of the parameter and Err.
func (e *ParamError) Error() string {
	if e.Param == "" {
		return e.Err.Error()
	}
	return e.Param + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *ParamError) Unwrap() error { return e.Err }
