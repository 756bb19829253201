// SPDX-License-Identifier: Apache-2.0

//go:build linux

package otlp_test

import (
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/e2e/kills"
	"github.com/nib-log/nib/e2e/receivers"
	"github.com/nib-log/nib/internal/must"
)

func TestMain(m *testing.M) {
	kills.Main(m, func(url string) (delivery.Destination, error) { return otlp.New(url, otlp.Config{}) })
}

// batch is the maximum number of records of a request.
const batch = 8192

// check checks that nothing is lost, and that only requests under way at a kill
// were repeated.
func check(t *testing.T, res kills.Result) {
	t.Helper()
	if len(res.Lost) > 0 {
		t.Errorf("%d of %d lines are lost: %q …", len(res.Lost), res.Lines, res.Lost[:min(5, len(res.Lost))])
	}
	if most := batch * (res.Services + res.Servers); res.Repeated > most {
		t.Errorf("%d records are there twice, more than the %d of the requests under way", res.Repeated, most)
	}
}

// The Collector writes a request to its file before it responds.
func TestKillWithCollector(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it compiles the Collector")
	}
	check(t, kills.Run(t, receivers.StartCollector(t)))
}

// Loki writes a request to its write-ahead log before it responds.
func TestKillWithLoki(t *testing.T) {
	check(t, kills.Run(t, receivers.StartLoki(t)))
}

// VictoriaLogs keeps accepted records in memory; the service gets the response
// when it is on disk.
func TestKillWithVictoriaLogs(t *testing.T) {
	check(t, kills.Run(t, receivers.StartVictoriaLogs(t)))
}

func TestMemoryIsFlatWhileTheReceiverIsDown(t *testing.T) {
	d, err := otlp.New(kills.Nowhere+"/v1/logs", otlp.Config{OnError: func(error) {}})
	must.Succeed(t, err)
	defer d.Close()
	kills.Memory(t, d)
}
