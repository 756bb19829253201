// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
)

// progress returns a function that shows the current step on w, if it is a
// terminal, in one line that is written over. The function end removes the
// line.
func progress(w io.Writer) (show func(step string), end func()) {
	if ok, _ := terminal(w); !ok {
		return nil, func() {}
	}
	return func(step string) {
		_, width := terminal(w)
		text := []rune(step)
		fmt.Fprintf(w, "\r\x1b[K%s", string(text[:min(len(text), max(width-1, 0))]))
	}, func() { fmt.Fprint(w, "\r\x1b[K") }
}
