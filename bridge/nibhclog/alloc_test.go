// SPDX-License-Identifier: Apache-2.0

package nibhclog_test

import (
	"errors"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/nibhclog"
)

// The values are boxed once, before the calls that are counted: allocations of
// hclog's API itself do not count.
func TestALineDoesNotAllocate(t *testing.T) {
	args := []any{"method", "GET", "status", 200, "bytes", int64(48231), "cached", true, "load", 0.75, "err", errors.New("gone")}
	for name, opts := range map[string][]nib.Option{"plain": nil, "caller": {nib.WithCaller()}} {
		l := nibhclog.New(nib.New(io.Discard, opts...)).Named("n").With("a", 1)
		t.Run(name, func(t *testing.T) {
			alloctest.Zero(t, func() { l.Info("request handled", args...) })
			alloctest.Zero(t, func() { l.Debug("off", args...) })
		})
	}
}
