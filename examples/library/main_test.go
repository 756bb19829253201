// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/examples/library/cart"
	"github.com/nib-log/nib/nibtest"
)

const want = `{"time":"2026-01-02T15:04:05.000Z","level":"debug","logger":"cart","item":"pear","n":2,"total":2,"message":"added"}
{"time":"2026-01-02T15:04:05.000Z","level":"debug","logger":"cart","item":"pear","n":1,"total":3,"message":"added"}
{"time":"2026-01-02T15:04:05.000Z","level":"info","request_id":"7f3a","items":3,"message":"checkout"}
`

func TestOutput(t *testing.T) {
	var clock nibtest.Clock
	var b bytes.Buffer
	run(&b, nib.WithClock(clock.Now))
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLibraryDoesNotAllocateToLog(t *testing.T) {
	log := nib.New(io.Discard, nib.WithLevel(nib.LevelDebug))
	ctx := nib.NewContext(context.Background(), log)
	c := cart.New(log)
	alloctest.Zero(t, func() {
		c.Add("pear", 1)
		c.Checkout(ctx)
	})
	silent := cart.New(nil)
	alloctest.Zero(t, func() { silent.Add("pear", 1) })
}
