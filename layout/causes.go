// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/causes"
)

// maxDepth is how deep errors that wrap each other are followed.
const maxDepth = 32

// ErrorCauses is for the field Error of a [nib.Layout]. It writes the text of an
// error under key and, if the error wraps or joins others, their texts under
// key+".causes", outermost first.
func ErrorCauses(e *nib.Event, key string, err error) {
	e.AnErr(key, err).Func(func(e *nib.Event) {
		if causes := causes.Of(err, maxDepth); len(causes) > 0 {
			e.Errs(key+".causes", causes)
		}
	})
}
