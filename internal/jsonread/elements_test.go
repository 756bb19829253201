// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"slices"
	"testing"
)

func TestElements(t *testing.T) {
	for src, want := range map[string][]string{
		`[]`: nil, ` [ ] `: nil, `{}`: nil, ``: nil, `1`: nil, `[,]`: nil,
		`[1]`: {"1"},
		` [ 1 , "a,]" , [2,3],{"b":[4]} ,null ] `: {"1", `"a,]"`, "[2,3]", `{"b":[4]}`, "null"},
		`[1,]`:  {"1"},
		`[1 2]`: {"1"},
		`["a`:   nil,
	} {
		var got []string
		for e := range Elements([]byte(src)) {
			if cap(e) != len(e) {
				t.Errorf("%s: an element has capacity behind it", src)
			}
			got = append(got, string(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Elements(%s) = %q, want %q", src, got, want)
		}
	}
}
