// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

// ReadHeaders reads headers with passwords or tokens from a file, with a line
// NAME: VALUE for each. Its errors do not quote them.
func ReadHeaders(name string) (http.Header, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for i, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key = strings.TrimSpace(key); {
		case strings.TrimSpace(line) == "":
		case !ok || !isName(key) || hasControl(value):
			return nil, fmt.Errorf("line %d of %s is not NAME: VALUE", i+1, name)
		default:
			h.Add(key, value)
		}
	}
	return h, nil
}

// isName reports whether s is the name of a header: a token of RFC 9110,
// section 5.6.2.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// hasControl reports whether s has a character that the value of a header must
// not have.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
