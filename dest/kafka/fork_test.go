// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// A fork has the same topic and configuration, and separate state.
func TestFork(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, "logs", Config{ClientID: "shop", MaxBatch: 10_000})
	must.Succeed(t, err)
	defer d.Close()
	f, err := d.Fork()
	must.Succeed(t, err)
	other := f.(*Destination)
	defer other.Close()
	if other.cluster.topic != d.cluster.topic || other.cluster.client == d.cluster.client ||
		other.c.ClientID != "shop" || other.c.MaxBatch != 10_000 {
		t.Errorf("got %+v, want %+v", other.c, d.c)
	}
}

// Two processes with one TransactionalID would fence each other.
func TestForkWithATransactionalID(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, "logs", Config{TransactionalID: "shop"})
	must.Succeed(t, err)
	defer d.Close()
	if _, err := d.Fork(); err == nil || !strings.Contains(err.Error(), "TransactionalID") {
		t.Errorf("got %v, want an error that says what to leave out", err)
	}
}
