// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"errors"
	"fmt"
	"reflect"
)

var errorsNew, fmtErrorf = reflect.TypeOf(errors.New("")), reflect.TypeOf(fmt.Errorf("%w", errors.New("")))

// HasPlainText reports whether err was made by errors.New, or by fmt.Errorf
// with one %w: its Error method returns a stored text. It needs no guard, which
// would take most of the time for a short error.
func HasPlainText(err error) bool {
	t := reflect.TypeOf(err)
	return t == errorsNew || t == fmtErrorf
}
