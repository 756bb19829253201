// SPDX-License-Identifier: Apache-2.0

//go:build linux

package elastic_test

import (
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/e2e/kills"
	"github.com/nib-log/nib/e2e/receivers"
	"github.com/nib-log/nib/internal/must"
)

func TestMain(m *testing.M) {
	kills.Main(m, func(url string) (delivery.Destination, error) {
		return elastic.New(url, receivers.Index, elastic.Config{})
	})
}

// OpenSearch has each line once.
func TestKillWithOpenSearch(t *testing.T) {
	res := kills.Run(t, receivers.StartOpenSearch(t))
	if len(res.Lost) > 0 || res.Repeated > 0 {
		t.Errorf("%d of %d lines are lost: %q …; %d are there twice", len(res.Lost), res.Lines, res.Lost[:min(5, len(res.Lost))], res.Repeated)
	}
}

func TestMemoryIsFlatWhileTheServerIsDown(t *testing.T) {
	d, err := elastic.New(kills.Nowhere, "orders", elastic.Config{OnError: func(error) {}})
	must.Succeed(t, err)
	defer d.Close()
	kills.Memory(t, d)
}
