// SPDX-License-Identifier: Apache-2.0

package bytesfunc

import (
	"fmt"
	"strings"
)

func Look(b []byte, s string) []any {
	return []any{
		strings.HasPrefix(string(b), "GET "), // want "use package bytes"
		strings.Index(string(b), "ü"),        // want "use package bytes"
		strings.IndexByte(string(b), 'x'),    // want "use package bytes"
		strings.ContainsAny(string(b), s),    // want "use package bytes"
		strings.EqualFold(string(b), "get"),  // want "use package bytes"
		strings.Contains(string(b), s),       // a copy of s instead of one of b
		strings.Contains(s, "x"),
		strings.TrimSpace(string(b)),
	}
}

func Try() string {
	return fmt.Sprint(Look([]byte("GET ü x"), "x "), Look([]byte("gEt"), "q"), Look(nil, ""), Look([]byte{255, 'x'}, "\xff"))
}
