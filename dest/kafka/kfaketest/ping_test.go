// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"testing"

	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
)

func TestPing(t *testing.T) {
	d := dial(t, start(t, 1), Config{})
	if err := d.Ping(t.Context()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if res, err := d.Deliver(t.Context(), records(7, 1, 2)); err != nil || res.Accepted != 2 {
		t.Errorf("Deliver after Ping: got %+v, %v", res, err)
	}
}

func TestPingWithoutTopic(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := dial(t, c, Config{}).Ping(t.Context()); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("got %v, want %v", err, kerr.UnknownTopicOrPartition)
	}
}

func TestPingWithoutBroker(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, logs, Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Ping(t.Context()); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, delivery.ErrClosed)
	}
}
