// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"github.com/nib-log/nib"
)

// maxDepth limits the depth to which wrapped errors are followed.
const maxDepth = 32

// ErrorCauses is for the field Error of a [nib.Layout]. It writes the text of
// an error under key and, if the error wraps or joins others, their texts under
// key+"_causes", outermost first: 64 at most, and those that are up to 32 deep.
// That is no dotted key, because Elasticsearch rejects a line in which the part
// before the dot is a text.
func ErrorCauses(e *nib.Event, key string, err error) {
	e.AnErr(key, err).Func(func(e *nib.Event) {
		if causes := appendCauses(nil, err, maxDepth); len(causes) > 0 {
			e.Errs(key+"_causes", causes)
		}
	})
}

// maxCauses ends a list of many causes, or of some that contain each other.
const maxCauses = 64

// appendCauses appends the errors that err wraps or joins, outermost first,
// down to depth.
func appendCauses(dst []error, err error, depth int) []error {
	if depth == 0 || len(dst) >= maxCauses {
		return dst
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		if c := w.Unwrap(); c != nil {
			dst = appendCauses(append(dst, c), c, depth-1)
		}
	case interface{ Unwrap() []error }:
		for _, c := range w.Unwrap() {
			if c != nil && len(dst) < maxCauses {
				dst = appendCauses(append(dst, c), c, depth-1)
			}
		}
	}
	return dst
}
