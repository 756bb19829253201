// SPDX-License-Identifier: Apache-2.0

package poolvalue

import (
	"io"
	"sync"
)

var lines = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

func write(w io.Writer, text string) error {
	b := (*lines.Get().(*[]byte))[:0]
	b = append(b, text...)
	_, err := w.Write(b)
	lines.Put(&b) // want `Put\(&b\) moves b to the heap each time; put the pointer that Get returned`
	return err
}
