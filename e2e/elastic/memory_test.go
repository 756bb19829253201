// SPDX-License-Identifier: Apache-2.0

//go:build linux

package elastic_test

import (
	"testing"

	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/e2e/kills"
)

func TestMemoryIsFlatWhileTheServerIsDown(t *testing.T) {
	d, err := elastic.New(kills.Nowhere, "orders", elastic.Config{OnError: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	kills.Memory(t, d)
}
