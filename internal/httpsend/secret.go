// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// secretName matches the names of headers and parameters with secret values.
var secretName = regexp.MustCompile(
	`(?i)auth|cookie|credential|key|pass|secret|session|sig|token|^code$|^k$`)

// minSecret is the minimum length of a secret: shorter ones would be found
// everywhere.
const minSecret = 4

// secrets are texts that must not stand in errors, the longest first.
type secrets []string

// secretsOf returns the secrets of requests, in the forms in which a server may
// quote them.
func secretsOf(h http.Header, u *url.URL) (list secrets) {
	add := func(text string) {
		if len(text) >= minSecret && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for name, values := range h {
		if !secretName.MatchString(name) {
			continue
		}
		for _, value := range values {
			add(value)
			scheme, credential, ok := strings.Cut(value, " ")
			if !ok {
				continue
			}
			add(strings.TrimSpace(credential))
			if plain, err := base64.StdEncoding.DecodeString(credential); err == nil &&
				strings.EqualFold(scheme, "Basic") {
				_, password, _ := strings.Cut(string(plain), ":")
				add(password)
			}
		}
	}
	for _, pair := range strings.Split(u.RawQuery, "&") {
		name, raw, ok := strings.Cut(pair, "=")
		if !ok { // the query may be nothing but a key
			raw = pair
		} else if plain, err := url.QueryUnescape(name); err != nil ||
			!secretName.MatchString(plain) {
			continue
		}
		add(raw)
		if plain, err := url.QueryUnescape(raw); err == nil {
			add(plain)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// mask overwrites the secrets in text with as many asterisks, so that the
// lengths in a binary format stay valid.
func (s secrets) mask(text []byte) {
	for _, secret := range s {
		asterisks := bytes.Repeat([]byte("*"), len(secret))
		copy(text, bytes.ReplaceAll(text, []byte(secret), asterisks))
	}
}

// A maskedError is an error whose text has secrets.
type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.error }

// maskError returns err, without secrets in its text.
func (s secrets) maskError(err error) error {
	text := []byte(err.Error())
	s.mask(text)
	if string(text) == err.Error() {
		return err
	}
	return maskedError{err, string(text)}
}

// place returns a URL for errors, without its user, query and fragment, which
// may have secrets.
func place(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// redirectTo returns a Location for errors.
func redirectTo(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "a location that is not a URL"
	}
	return place(u)
}
