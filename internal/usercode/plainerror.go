// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"errors"
	"fmt"
	"reflect"
)

var errorsNew, fmtErrorf = reflect.TypeOf(errors.New("")), reflect.TypeOf(fmt.Errorf("%w", errors.New("")))

// HasPlainText reports whether err is one that errors.New, or fmt.Errorf with
// one %w, has made: its Error method returns a text that it holds. So it needs
// no guard, which takes most of the time of a short error.
func HasPlainText(err error) bool {
	t := reflect.TypeOf(err)
	return t == errorsNew || t == fmtErrorf
}
