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

	// notEnd has the characters of words that are the last of no key.
	notEnd [256]bool

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
	k.findEnds()
	k.reach = len(k.byLength) + len(`\u0000`)
	return k
}

// findEnds sets notEnd. After the key of a form may be [ and ], as %5B and %5D.
func (k *Keys) findEnds() {
	for c := range k.notEnd {
		k.notEnd[c] = inWord(byte(c)) && lower(byte(c))-'b' > 'd'-'b'
	}
	for _, keys := range append(slices.Clone(k.byLength), k.phrases) {
		for _, key := range keys {
			last := key[len(key)-1]
			k.notEnd[last] = false
			if last-'a' < 26 {
				k.notEnd[last-'a'+'A'] = false
			}
		}
	}
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
