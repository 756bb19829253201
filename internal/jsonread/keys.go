// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"slices"

	"github.com/nib-log/nib/internal/jsonenc"
)

// Keys is a set of keys whose values are secret. It does not change, so any
// number of goroutines may use it.
type Keys struct {
	// byLength holds the keys in lower case at the index of their length: most
	// names differ in that or a letter.
	byLength [][]string

	// phrases are the keys that are more than one word, in lower case and
	// escaped, as they are in a line. A text is searched for them one by one.
	phrases []string

	// reach is the maximum distance from a separator to a key after it.
	reach int
}

// NewKeys makes a set of keys. Letters match in both cases, if they are ASCII.
// Bytes that are not UTF-8 count as U+FFFD, as in a line; empty keys are left
// out.
func NewKeys(keys []string) *Keys {
	k := new(Keys)
	for _, key := range keys {
		if key == "" {
			continue
		}
		quoted := jsonenc.AppendString(nil, key)
		name, _ := AppendUnquoted(nil, quoted)
		toLower(name)
		for len(k.byLength) <= len(name) {
			k.byLength = append(k.byLength, nil)
		}
		k.byLength[len(name)] = append(k.byLength[len(name)], string(name))
		if name[0] == '-' || slices.ContainsFunc(name, func(c byte) bool { return !inWord(c) }) {
			toLower(quoted)
			k.phrases = append(k.phrases, string(quoted[1:len(quoted)-1]))
		}
	}
	k.reach = len(k.byLength) + len(`\u0000`)
	return k
}

// has reports whether name, which is not escaped, is one of the keys.
func (k *Keys) has(name []byte) bool {
	if len(name) >= len(k.byLength) {
		return false
	}
	for _, key := range k.byLength[len(name)] {
		if equalFold(name, key) {
			return true
		}
	}
	return false
}

// equalFold compares name with key, which is as long and in lower case.
func equalFold(name []byte, key string) bool {
	for i, c := range name {
		if lower(c) != key[i] {
			return false
		}
	}
	return true
}

// lower folds ASCII letters.
func lower(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}

func toLower(b []byte) {
	for i, c := range b {
		b[i] = lower(c)
	}
}
