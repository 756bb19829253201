// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"time"
)

// pause is the interval between lines of progress outside of a terminal.
const pause = 5 * time.Second

// progress returns a function that shows the current step on w: on a terminal
// in one line that is written over, elsewhere in a line from time to time. The
// function end removes the line.
func progress(w io.Writer) (show func(step string), end func()) {
	if ok, _ := terminal(w); !ok {
		wrote := time.Now()
		return func(step string) {
			if time.Since(wrote) >= pause {
				wrote = time.Now()
				fmt.Fprintf(w, "allocs: %s\n", step)
			}
		}, func() {}
	}
	return func(step string) {
		_, width := terminal(w)
		text := []rune(step)
		fmt.Fprintf(w, "\r\x1b[K%s", string(text[:min(len(text), max(width-1, 0))]))
	}, func() { fmt.Fprint(w, "\r\x1b[K") }
}
