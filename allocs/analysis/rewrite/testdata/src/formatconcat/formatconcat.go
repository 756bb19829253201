// SPDX-License-Identifier: Apache-2.0

package formatconcat

import "fmt"

type stringer string

func (s stringer) String() string { return "stringer" }

const sep = ", "

func Join(a, b string, n int, i int64, u uint32, ok bool, e error, s stringer) []string {
	return []string{
		fmt.Sprintf("%s-%s", a, b),               // want "join the parts"
		fmt.Sprintf("id-%d", n),                  // want "join the parts"
		fmt.Sprintf("%d/%d", i, u),               // want "join the parts"
		fmt.Sprintf("%v", n),                     // want "join the parts"
		fmt.Sprint(ok),                           // want "join the parts"
		fmt.Sprintf("%s|%s", a+b, b)[1:],         // want "join the parts"
		fmt.Sprintf("%x", n) + "!",               // want "join the parts"
		fmt.Sprintf("%v", e),                     // errors have their own text
		fmt.Sprintf("%s", s),                     // and so has what has String
		fmt.Sprintf("%s"+sep, a),                 // sep is to stay
		fmt.Sprintf("%05d", n),                   // fmt pads
		fmt.Sprintf("%d%d%d%d%d", n, n, n, n, n), // too long to read
		fmt.Sprintf("%d", a),                     // fmt says what is wrong
	}
}

func Try() string {
	return fmt.Sprint(Join("a", "b", -300, -1<<63, 1<<32-1, true, fmt.Errorf("e"), "s"))
}
