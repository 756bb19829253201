// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxExcerpt is the number of bytes of a response that an error quotes.
const maxExcerpt = 300

// A Response is a complete response.
type Response struct {
	Status    int // the status code
	Header    http.Header
	Body      []byte
	Truncated bool // Body is longer than Config.MaxResponse

	prefix string        // prefix of errors
	after  time.Duration // the delay requested by Retry-After
}

// OK reports whether the status is 2xx and the body is not an HTML page, such
// as a login page or the error page of a proxy.
func (r Response) OK() bool {
	kind := r.Header.Get("Content-Type")
	if kind == "" {
		kind = http.DetectContentType(r.Body)
	}
	return r.Status/100 == 2 && !strings.HasPrefix(strings.ToLower(kind), "text/html")
}

// Err returns an error with the status and the beginning of the body.
func (r Response) Err() error { return r.Error(string(r.Body[:min(len(r.Body), 4*maxExcerpt)])) }

// Error returns an error with the status and the beginning of a message of the
// server, without control characters.
func (r Response) Error(message string) error {
	text := r.prefix + ": " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status)
	if to := r.Header.Get("Location"); r.Status/100 == 3 {
		text += fmt.Sprintf(", a redirect to %q, which is not followed: change the URL",
			Excerpt(redirectTo(to), maxExcerpt))
	}
	if r.after > 0 {
		text += ", retry after " + r.after.Round(time.Second).String()
	}
	if message = Excerpt(message, maxExcerpt); message != "" {
		text += ": " + message
	}
	return errors.New(text)
}

// readable makes a body readable: decompressed, if the server has compressed it
// although it was not allowed to, and without the secrets of the request, which
// a server may quote.
func (c *Client) readable(r *Response) {
	encoding := strings.TrimSpace(r.Header.Get("Content-Encoding"))
	if strings.EqualFold(encoding, "gzip") {
		if in, err := gzip.NewReader(bytes.NewReader(r.Body)); err == nil {
			// the beginning of an invalid one
			r.Body, _ = io.ReadAll(io.LimitReader(in, int64(c.c.MaxResponse)))
			r.Header.Del("Content-Encoding")
			more, _ := in.Read(make([]byte, 1))
			r.Truncated = r.Truncated || more > 0
		}
	}
	c.mask.mask(r.Body)
}

// retryAfter returns the duration in Retry-After, which is in seconds or a
// date; 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	seconds, err := strconv.ParseUint(text, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // then seconds is the maximum
		return min(time.Duration(seconds)*time.Second, maxAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(min(at.Sub(now), maxAfter), 0)
}

// Excerpt returns the beginning of a text of a server, to be quoted in an
// error: at most limit bytes and "…", on one line, without control sequences.
func Excerpt(text string, limit int) string {
	s := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text[:min(len(text), 4*limit)])) // controls may take many of the bytes
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
