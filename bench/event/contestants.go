// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"github.com/nib-log/nib/bench/measure"
)

// The fields are variables, so that they are not constants to the compiler.
var key, value, message = "path", "/v1/accounts/7361/orders", "request served"

// A logger gives out events of all kinds, as a pointer or as an interface.
type logger struct {
	w   io.Writer
	off bool
}

func (l *logger) fresh() *fresh {
	if l.off {
		return nil
	}
	return newFresh(l.w)
}

func (l *logger) freshLine() line {
	if l.off {
		return disabled{}
	}
	return newFresh(l.w)
}

func (l *logger) recycled() *recycled {
	if l.off {
		return nil
	}
	return newRecycled(l.w)
}

func (l *logger) recycledLine() line {
	if l.off {
		return disabled{}
	}
	return newRecycled(l.w)
}

func (l *logger) pooled() *pooled {
	if l.off {
		return nil
	}
	return newPooled(l.w)
}

func (l *logger) pooledLine() line {
	if l.off {
		return disabled{}
	}
	return newPooled(l.w)
}

// contestants returns the ways to write a line to w.
func contestants(w io.Writer) []measure.Contestant {
	l := &logger{w: w}
	return []measure.Contestant{
		{Name: "nib", Do: func(n int) {
			for range n {
				l.pooled().Str(key, value).Msg(message)
			}
		}},
		{Name: "sync.Pool", Do: func(n int) {
			for range n {
				l.recycled().Str(key, value).Msg(message)
			}
		}},
		{Name: "make", Do: func(n int) {
			for range n {
				l.fresh().Str(key, value).Msg(message)
			}
		}},
		{Name: "nib-interface", Do: func(n int) {
			for range n {
				l.pooledLine().str(key, value).msg(message)
			}
		}},
		{Name: "sync.Pool-interface", Do: func(n int) {
			for range n {
				l.recycledLine().str(key, value).msg(message)
			}
		}},
		{Name: "make-interface", Do: func(n int) {
			for range n {
				l.freshLine().str(key, value).msg(message)
			}
		}},
	}
}
