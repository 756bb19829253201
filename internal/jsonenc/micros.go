// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "time"

// AppendMicros appends d in microseconds as an exact decimal number without
// trailing zeros.
func AppendMicros(dst []byte, d time.Duration) []byte {
	return appendScaled(dst, d, 3)
}
