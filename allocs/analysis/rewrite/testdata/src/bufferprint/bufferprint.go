// SPDX-License-Identifier: Apache-2.0

package bufferprint

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

func Fill(n int, u uint8, s string, ok bool) string {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "n=%d %s", n, s) // want "write the parts"
	if ok {
		fmt.Fprintf(&buf, "%x%t", u, ok) // want "write the parts"
	}
	p := &buf
	fmt.Fprint(p, s)          // want "write the parts"
	fmt.Fprintf(p, "%6d", n)  // with a width
	fmt.Fprintln(p, s)        // fmt knows where to put spaces
	fmt.Fprintf(p, "%d", f()) // f could write too
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>", s) // want "write the parts"
	fmt.Fprintf(&b, "<%d>", n) // a Builder does not lend its room
	var w io.Writer = p
	fmt.Fprintf(w, "<%s>", s) // one Write would become three
	if _, err := fmt.Fprintf(p, "<%s>", s); err != nil {
		panic(err)
	}
	return buf.String() + b.String()
}

func f() int { return 7 }

func Try() string { return Fill(-300, 255, "a\x00ü", true) + Fill(0, 0, "", false) }
