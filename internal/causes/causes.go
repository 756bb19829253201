// SPDX-License-Identifier: Apache-2.0

// Package causes finds what errors wrap.
package causes

// maxCauses ends a list of causes that contain each other.
const maxCauses = 64

// Of lists the errors that err wraps or joins, outermost first, down to depth.
func Of(err error, depth int) []error { return appendOf(nil, err, depth) }

func appendOf(dst []error, err error, depth int) []error {
	if depth == 0 || len(dst) >= maxCauses {
		return dst
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		if c := w.Unwrap(); c != nil {
			dst = appendOf(append(dst, c), c, depth-1)
		}
	case interface{ Unwrap() []error }:
		for _, c := range w.Unwrap() {
			if c != nil {
				dst = appendOf(append(dst, c), c, depth-1)
			}
		}
	}
	return dst
}
