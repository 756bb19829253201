// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"encoding/json"

	"github.com/nib-log/nib"
)

// KeyField returns a function for Config.Key. The key of a record is the
// top-level field of that name in its line: the text of a string, or the JSON
// of any other value. A record without the field, or with null, has no key.
//
// Unlike other functions it can be specified to nib relay, which then delivers
// with the same keys as the service.
func KeyField(name string) func(*nib.Record) []byte {
	return func(r *nib.Record) []byte {
		value, ok := r.Lookup(name)
		switch {
		case !ok || string(value) == "null":
			return nil
		case value[0] != '"':
			return value
		case !bytes.ContainsRune(value, '\\'):
			return value[1 : len(value)-1]
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			return value // any key will do
		}
		return []byte(text)
	}
}
