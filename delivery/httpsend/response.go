// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxExcerpt is how much of a response an error quotes.
const maxExcerpt = 300

// A Response is a complete response.
type Response struct {
	Status    int // the status code
	Header    http.Header
	Body      []byte
	Truncated bool // Body is longer than Config.MaxResponse

	prefix string        // of errors
	after  time.Duration // of Retry-After
}

// OK reports whether the status is 2xx and the body is not an HTML page, such
// as those of login pages and proxies.
func (r Response) OK() bool {
	return r.Status/100 == 2 && !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html")
}

// Err returns an error with the status and the beginning of the body.
func (r Response) Err() error { return r.Error(printable(r.Body)) }

// Error returns an error with the status and a message.
func (r Response) Error(message string) error {
	text := r.prefix + ": " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)
	if to := r.Header.Get("Location"); r.Status/100 == 3 {
		text += fmt.Sprintf(", a redirect to %q, which is not followed: change the URL", excerpt(to))
	}
	if r.after > 0 {
		text += ", retry after " + r.after.Round(time.Second).String()
	}
	if message = excerpt(message); message != "" {
		text += ": " + message
	}
	return errors.New(text)
}

// again reports whether the request must be repeated.
func (r Response) again() bool {
	switch r.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter returns the duration in Retry-After, which is in seconds or a
// date; 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(min(at.Sub(now), maxAfter), 0)
}

// printable returns a body as text.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, string(b[:min(len(b), 4*maxExcerpt)]))
}

// excerpt shortens a text.
func excerpt(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxExcerpt {
		return s
	}
	return strings.ToValidUTF8(s[:maxExcerpt], "") + "…"
}
