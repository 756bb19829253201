// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// The types of the errors of errors.New and fmt.Errorf. The first call of
// fmt.Errorf takes longer than all other initialisation of this module.
var (
	errorsNew = reflect.TypeOf(errors.New(""))
	fmtErrorf = sync.OnceValue(func() reflect.Type {
		return reflect.TypeOf(fmt.Errorf("%w", errors.New("")))
	})
)

// HasPlainText reports whether err was made by errors.New, or by fmt.Errorf
// with one %w: its Error method returns a stored text. It needs no guard, which
// would take most of the time for a short error.
func HasPlainText(err error) bool {
	t := reflect.TypeOf(err)
	return t == errorsNew || t == fmtErrorf()
}
