// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"fmt"
	"reflect"
)

// PanicText describes v, a result of recover that is not nil. The methods of v
// may also panic, and package fmt would follow a cyclic map or slice until the
// stack is full, so values without a method for their text are shown by their
// type.
func PanicText(v any) (text string) {
	text = reflect.TypeOf(v).String()
	defer func() { _ = recover() }()
	switch v := v.(type) {
	case error:
		text = v.Error()
	case fmt.Stringer:
		text = v.String()
	default:
		if k := reflect.TypeOf(v).Kind(); k >= reflect.Bool && k <= reflect.Complex128 ||
			k == reflect.String {
			text = fmt.Sprint(v)
		}
	}
	return text
}

// TakePanicText sets text to PanicText(v). If PanicText ends the goroutine,
// text is the type of v.
func TakePanicText(text *string, v any) {
	*text = reflect.TypeOf(v).String()
	*text = PanicText(v)
}
