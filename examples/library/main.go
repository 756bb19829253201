// SPDX-License-Identifier: Apache-2.0

// Command library uses a library that logs; see package cart.
package main

import (
	"context"
	"io"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/examples/library/cart"
)

func main() { run(os.Stdout) }

// run writes all output of the program to w.
func run(w io.Writer, opts ...nib.Option) {
	log := nib.New(w, append(opts, nib.WithLevel(nib.LevelDebug))...)

	c := cart.New(log)
	c.Add("pear", 2)
	c.Add("pear", 1)

	request := log.With(func(e *nib.Event) { e.Str("request_id", "7f3a") })
	c.Checkout(nib.NewContext(context.Background(), request))

	silent := cart.New(nil)
	silent.Add("plum", 1)
}
