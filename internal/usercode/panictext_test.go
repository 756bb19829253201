// SPDX-License-Identifier: Apache-2.0

package usercode_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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

type embedding struct{ error }

// An error whose method calls another one may call any code.
func TestHasPlainText(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{errors.New("new"), true},
		{io.EOF, true},
		{fmt.Errorf("without a verb"), true},
		{fmt.Errorf("wrapped: %w", hostile{}), true},
		{errors.Join(hostile{}), false},
		{&fs.PathError{Err: hostile{}}, false},
		{embedding{io.EOF}, false},
		{&embedding{io.EOF}, false},
		{hostile{}, false},
		{nil, false},
	} {
		if got := usercode.HasPlainText(tt.err); got != tt.want {
			t.Errorf("HasPlainText(%T) = %v, want %v", tt.err, got, tt.want)
		}
	}
}
