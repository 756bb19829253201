// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"testing"

	"github.com/nib-log/nib/bench/measure"
)

// The comparison itself must be able to fail.
func TestSameRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"another value", `{"a":1}`, `{"a":2}`},
		{"a value too few", `{"a":1}`, `{"a":1,"b":2}`},
		{"a value too many", `{"a":1,"b":2}`, `{"a":1}`},
		{"another type", `{"a":"1"}`, `{"a":1}`},
		{"an old time", `{"a":"2006-01-02T15:04:05Z"}`, `{"a":"now"}`},
		{"two lines", "{}\n{}", `{}`},
		{"no JSON", "{", `{}`},
		{"nothing", "", `{}`},
	} {
		if err := Same(test.want)(&measure.Contestant{}, []byte(test.text)); err == nil {
			t.Errorf("%s passes", test.name)
		}
	}
	if err := Same("")(&measure.Contestant{Aside: true}, []byte("{}")); err == nil {
		t.Error("a line where none is wanted passes")
	}
	err := Same(`{"a":"x", "b":[15e-1]}`)(&measure.Contestant{}, []byte(`{"b":[1.50],"a":"x"}`))
	if err != nil {
		t.Errorf("what may differ: %v", err)
	}
}
