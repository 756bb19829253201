// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"time"
)

// Check lets every contestant of s perform one operation, and compares its
// output with the expected one.
func Check(s *Scenario) error {
	var errs []error
	for i := range s.Contestants {
		if err := s.Contestants[i].check(s.Want); err != nil {
			errs = append(errs, fmt.Errorf("%s, %s: %w", s.Name, s.Contestants[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Contestant) check(want string) error {
	if c.Want != "" {
		want = c.Want
	}
	var written bytes.Buffer
	c.New(&written)(1)
	text := written.Bytes()
	if want == "" {
		if len(text) > 0 {
			return fmt.Errorf("writes %q, want nothing", text)
		}
		return nil
	}
	got, err := canonical(text)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	expected, err := canonical([]byte(want))
	if err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	settle(got, expected)
	if !reflect.DeepEqual(got, expected) {
		return fmt.Errorf("writes %s, want %s", text, want)
	}
	return nil
}

// canonical decodes one value and removes the differences that contestants may
// choose: the order of members and the notation of numbers.
func canonical(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return plain(v), nil
}

// number distinguishes a number from a string of its digits.
type number string

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = plain(member)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return number(r.RatString())
		}
	}
	return v
}

// settle replaces the current times in got by "now" where want has "now".
func settle(got, want any) {
	g, _ := got.(map[string]any)
	w, _ := want.(map[string]any)
	for key := range g {
		text, _ := g[key].(string)
		if w[key] != "now" {
			continue
		}
		for _, layout := range []string{time.RFC3339, dateFormat} {
			if t, err := time.ParseInLocation(layout, text, time.Local); err == nil && time.Since(t).Abs() < time.Hour {
				g[key] = "now"
			}
		}
	}
}
