// SPDX-License-Identifier: Apache-2.0

package lineedit

// Keys is a set of key names whose values are secret.
type Keys struct {
	names []string
}

// NewKeys makes a set of keys.
func NewKeys(keys []string) *Keys { return &Keys{names: keys} }
