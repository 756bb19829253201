// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"strconv"
)

// AppendFloat64 appends v as encoding/json does.
func AppendFloat64(dst []byte, v float64) []byte {
	return appendFloatSlow(dst, v, 64)
}

// AppendFloat32 appends v as encoding/json does.
func AppendFloat32(dst []byte, v float32) []byte {
	return appendFloatSlow(dst, float64(v), 32)
}

func appendFloatSlow(dst []byte, v float64, size int) []byte {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return append(dst, "\"NaN\""...)
	case v > math.MaxFloat64:
		return append(dst, "\"+Inf\""...)
	case v < -math.MaxFloat64:
		return append(dst, "\"-Inf\""...)
	}
	exponent := abs != 0 && (abs < 1e-6 || abs >= 1e21)
	if size == 32 {
		a := float32(abs)
		exponent = a != 0 && (a < 1e-6 || a >= 1e21)
	}
	if !exponent {
		return strconv.AppendFloat(dst, v, 'f', -1, size)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, size)
	// e-09 to e-9, as encoding/json has it.
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
