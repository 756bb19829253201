// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"testing"
)

func TestSaidLeavesOutStacks(t *testing.T) {
	const text = "# example.com/m.test\npanic: reference to undefined builtin\n\n" +
		"goroutine 1 [running]:\ncmd/link/internal/loader.(*Loader).resolve(...)"
	for _, x := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("building: %w", &commandError{text: text}),
			"# example.com/m.test\npanic: reference to undefined builtin"},
		{&commandError{text: "a.go:1: undefined: x"}, "a.go:1: undefined: x"},
		{fmt.Errorf("no such file"), "no such file"},
	} {
		if got := Said(x.err); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}
