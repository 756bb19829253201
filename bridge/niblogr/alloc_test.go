// SPDX-License-Identifier: Apache-2.0

package niblogr_test

import (
	"errors"
	"io"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/niblogr"
)

// The values are boxed once, before the calls that are counted: allocations of
// logr's API itself do not count.
func TestALineDoesNotAllocate(t *testing.T) {
	values := []any{"pod", "kube-system/pod-1", "attempt", 3, "bytes", int64(48231), "ready", true, "load", 0.75, "err", errors.New("gone")}
	for name, opts := range map[string][]nib.Option{"plain": nil, "caller": {nib.WithCaller()}} {
		l := niblogr.New(nib.New(io.Discard, opts...)).WithName("n").WithValues("a", 1)
		err := errors.New("timeout")
		t.Run(name, func(t *testing.T) {
			alloctest.Zero(t, func() { l.Info("synced", values...) })
			alloctest.Zero(t, func() { l.Error(err, "cannot sync", values...) })
			alloctest.Zero(t, func() { l.V(4).Info("off", values...) })
		})
	}
}
