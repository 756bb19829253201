// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"io"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/console"
)

// A window is a sink that shows the first few lines to people and lets the
// others pass by.
type window struct {
	out            nib.Sink
	size           int64
	taken, written atomic.Int64
	full           chan struct{} // closed once all of them are there
}

var _ nib.Sink = (*window)(nil)

func newWindow(w io.Writer, size int, s style) *window {
	color := console.Never
	if s.on {
		color = console.Always
	}
	v := &window{
		out:  console.New(w, console.Config{Color: color, MessageWidth: len(accessMessage)}),
		size: int64(size),
		full: make(chan struct{}),
	}
	if size == 0 {
		close(v.full)
	}
	return v
}

// WriteRecord implements nib.Sink.
func (v *window) WriteRecord(r *nib.Record) error {
	if v.taken.Load() >= v.size || v.taken.Add(1) > v.size {
		return nil
	}
	err := v.out.WriteRecord(r)
	if v.written.Add(1) == v.size {
		close(v.full)
	}
	return err
}
