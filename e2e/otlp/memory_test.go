// SPDX-License-Identifier: Apache-2.0

//go:build linux

package otlp_test

import (
	"testing"

	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/e2e/kills"
)

func TestMemoryIsFlatWhileTheReceiverIsDown(t *testing.T) {
	d, err := otlp.New(kills.Nowhere+"/v1/logs", otlp.Config{OnError: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	kills.Memory(t, d)
}
