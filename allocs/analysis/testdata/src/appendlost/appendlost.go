// SPDX-License-Identifier: Apache-2.0

package appendlost

import (
	"bytes"
	"io"
	"strconv"
)

type object struct {
	buf  []byte
	list []int
	fix  [64]byte
}

func (o *object) lost(w io.Writer, s string) {
	b := o.buf[:0]
	b = append(b, s...) // want `store it back, o.buf = b`
	w.Write(b)
}

func (o *object) lostInLoop(n int) (sum int) {
	l := o.list[:0]
	for i := range n {
		l = append(l, i) // want `store it back, o.list = l`
	}
	for _, v := range l {
		sum += v
	}
	return sum
}

func (o *object) stored(w io.Writer, s string) {
	b := o.buf[:0]
	b = append(b, s...)
	w.Write(b)
	o.buf = b
}

func (o *object) storedLater(w io.Writer, s string) {
	b := o.buf[:0]
	defer func() { o.buf = b[:0] }()
	b = append(b, s...)
	w.Write(b)
}

func (o *object) returned(s string) []byte {
	b := o.buf[:0]
	b = append(b, s...)
	return b
}

func (o *object) passed(s string, keep func([]byte)) {
	b := o.buf[:0]
	b = append(b, s...)
	keep(b)
}

func (o *object) fixed(w io.Writer, s string) {
	b := o.fix[:0]
	b = append(b, s...)
	w.Write(b)
}

// A few numbers fit for sure.
func (o *object) bounded(w io.Writer, n int) {
	b := o.buf[:0]
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, "ms"...)
	w.Write(b)
}

func (o *object) compared(s string) bool {
	b := o.buf[:0]
	b = append(b, s...) // want `store it back, o.buf = b`
	return bytes.Equal(b, o.fix[:])
}

// Nobody has said that the room of a parameter is to be used again.
func param(b []byte, s string) int {
	b = append(b, s...)
	return len(b)
}
