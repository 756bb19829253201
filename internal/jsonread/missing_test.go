// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"fmt"
	"testing"
)

func TestMayShareKey(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{``, ``, false},
		{``, `,"a":1`, false},
		{`,"a":1`, ``, false},
		{`,"a":1`, `,"a":2`, true},
		{`,"request":"x"`, `,"status":200,"shard":3`, false},
		{`,"status":200,"shard":3`, `,"request":"x","status":200`, true},
		{`,"list":[1,2,3]`, `,"shard":3`, false},
		{`,"":1`, `,"":2`, true},
		{`,"a\"b":1`, `,"a\"b":2`, true},
		{`,"text":"ends in a comma,","shard":3`, `,"shard":3`, true},
		{`,"text":",","shard":3`, `,"shard":3`, true},
		{`,"text":",,","shard":3`, `,"shard":3`, true},
		{`,"`, `,"`, true},
	} {
		for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := MayShareKey([]byte(pair[0]), pair[1]); got != tt.want {
				t.Errorf("%s and %s: got %v, want %v", pair[0], pair[1], got, tt.want)
			}
		}
	}
}

// A key is found whatever the value in front of it is.
func TestMayShareKeyBehindAnyText(t *testing.T) {
	texts := []string{`,`, `"`, `\`, `:`, `a`}
	for _, a := range texts {
		for _, b := range texts {
			for _, c := range texts {
				line := fmt.Appendf(nil, `,"first":%q,"shard":3`, a+b+c)
				if !MayShareKey(line, `,"shard":4`) || !MayShareKey(line, `,"first":4`) {
					t.Errorf("no key in common with %s", line)
				}
			}
		}
	}
}

func TestMayShareKeyDoesNotAllocate(t *testing.T) {
	line := []byte(`,"request":"01J9Z5T8QXW3M7KD","path":"/v1"`)
	if n := testing.AllocsPerRun(100, func() { MayShareKey(line, `,"status":200,"shard":3`) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
