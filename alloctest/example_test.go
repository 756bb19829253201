// SPDX-License-Identifier: Apache-2.0

package alloctest_test

import (
	"strconv"
	"testing"

	"github.com/nib-log/nib/alloctest"
)

func ExampleZero() {
	test := func(t *testing.T) {
		buf := make([]byte, 0, 20)
		n := int64(0)
		alloctest.Zero(t, func() {
			n++
			buf = strconv.AppendInt(buf[:0], n, 10)
		})
	}
	_ = test // go test calls it
}
