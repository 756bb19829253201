// SPDX-License-Identifier: Apache-2.0

package jsonread

import "unsafe"

// text returns b as a string without a copy, for as long as b does not change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
