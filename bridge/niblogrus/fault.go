// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"reflect"

	"github.com/sirupsen/logrus"
)

// errField is the index of the field of a logrus.Entry that lists the values it
// has refused (functions, above all), or -1. The field is not exported, but
// reflect reads it without allocating.
var errField = func() int {
	f, ok := reflect.TypeFor[logrus.Entry]().FieldByName("err")
	if !ok || f.Type.Kind() != reflect.String {
		return -1
	}
	return f.Index[0]
}()

// fault returns the text that logrus's formatters write as "logrus_error".
func fault(entry *logrus.Entry) string {
	if errField < 0 {
		return ""
	}
	return reflect.ValueOf(entry).Elem().Field(errField).String()
}
