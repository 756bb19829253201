// SPDX-License-Identifier: Apache-2.0

package appendlost

import (
	"io"
	"sync"
)

var lines = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

func write(w io.Writer, text string) error {
	p := lines.Get().(*[]byte)
	defer lines.Put(p)
	b := append((*p)[:0], '>', ' ')
	b = append(b, text...) // want `the array that append makes when \*p is full is lost: store it back, \*p = b`
	_, err := w.Write(append(b, '\n'))
	return err
}

func writeKept(w io.Writer, text string) error {
	p := lines.Get().(*[]byte)
	defer lines.Put(p)
	*p = append((*p)[:0], text...) // the larger array stays in the pool
	_, err := w.Write(*p)
	return err
}
