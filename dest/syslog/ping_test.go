// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/delivery"
)

func TestPingConnectsOnce(t *testing.T) {
	r := newRELP(t, &relpServer{})
	d := dial(t, "relp", r.addr, Config{})
	for range 2 {
		if err := d.Ping(t.Context()); err != nil {
			t.Fatalf("got %v, want nil", err)
		}
	}
	deliver(t, d, batchOf(0, 3))
	if got := d.Stats(); got.Connects != 1 || got.Accepted != 3 {
		t.Errorf("got %+v, want one connection and 3 records", got)
	}
}

func TestPingWithoutReceiver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, network := range []string{"unixgram", "unix"} {
		if err := dial(t, network, path, Config{}).Ping(t.Context()); err == nil {
			t.Errorf("%s: got nil, want an error", network)
		}
	}
}

// Ping must not use the connection while Deliver does.
func TestPingDuringDeliver(t *testing.T) {
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unix", r.addr, Config{})
	d.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	d.release()
	if err := d.Ping(t.Context()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Ping(t.Context()); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, delivery.ErrClosed)
	}
}
