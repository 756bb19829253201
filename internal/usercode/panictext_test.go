// SPDX-License-Identifier: Apache-2.0

package usercode_test

import (
	"errors"
	"testing"

	"github.com/nib-log/nib/internal/usercode"
)

type hostile struct{}

func (hostile) Error() string { panic("again") }

type named struct{}

func (*named) String() string { return "by name" }

func TestPanicTextWhateverIsPanickedWith(t *testing.T) {
	loop := map[string]any{}
	loop["loop"] = loop
	for _, x := range []struct {
		v    any
		want string
	}{
		{"text", "text"},
		{42, "42"},
		{errors.New("an error"), "an error"},
		{&named{}, "by name"},
		{hostile{}, "usercode_test.hostile"},
		{loop, "map[string]interface {}"},
	} {
		if got := usercode.PanicText(x.v); got != x.want {
			t.Errorf("%T: got %q, want %q", x.v, got, x.want)
		}
	}
}
