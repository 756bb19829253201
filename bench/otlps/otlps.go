// SPDX-License-Identifier: Apache-2.0

// Package otlps compares nib's way to a receiver of OTLP, through the spool in
// a directory, with OpenTelemetry's own: log/slog, the bridge otelslog, and the
// SDK's batch processor and its OTLP/HTTP exporter. Both send the same records
// to the same receiver. Each run is a process of its own, so that the time of
// the processor can be told apart from the receiver's.
package otlps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/nib-log/nib/sink/spool"
)

// Name is the name of the contest in results.
const Name = "OTLP"

// Names of the contestants.
const (
	Nib      = "nib"           // a spool in a directory, synced as by default
	NibNever = "nib-never"     // likewise, not synced: lines survive the process, but not the power
	Otelslog = "otelslog"      // otelslog with requests of 512 records, the default
	Longer   = "otelslog-8192" // otelslog with requests of 8192 records, like nib's
)

// Modules are the paths of the contestants' modules.
var Modules = []struct{ Name, Path string }{
	{Otelslog, "go.opentelemetry.io/contrib/bridges/otelslog"},
	{"batch processor", "go.opentelemetry.io/otel/sdk/log"},
	{"exporter", "go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"},
}

// Burst is the number of records that are logged before waiting until the
// receiver has accepted them. The SDK's queue has room for them: it drops
// records that do not fit.
const Burst = 50_000

// A Cost is the cost of delivering records.
type Cost struct {
	Records int
	Burst   time.Duration // time of the fastest burst, from the first call until all is accepted
	CPU     time.Duration // processor time per record, including the start of the process
	Mallocs uint64
	Bytes   uint64
}

// A Contestant is a way to send records.
type Contestant struct {
	Name, Title string
	open        func(url string) (sender, error)
}

// A sender logs, and waits until everything is delivered.
type sender interface {
	log(n int)
	flush() error
	close() error
}

// Contestants lists them.
var Contestants = []Contestant{
	{Nib, "**nib**", func(url string) (sender, error) { return openNib(url, spool.SyncSoon) }},
	{NibNever, "**nib**, `SyncNever`", func(url string) (sender, error) { return openNib(url, spool.SyncNever) }},
	{Otelslog, "otelslog and the SDK", func(url string) (sender, error) { return openSDK(url, 512) }},
	{Longer, "the same, requests of 8192", func(url string) (sender, error) { return openSDK(url, batch) }},
}

// batch is the maximum number of records in a request of nib's.
const batch = 8192

const sendVerb = "otlp-send"

// Dispatch sends records and exits if the program was started for it. Call it
// first thing in main.
func Dispatch() {
	if len(os.Args) != 5 || os.Args[1] != sendVerb {
		return
	}
	if err := send(os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Measure runs a contestant in a process of its own, which sends bursts to a
// receiver after a first one that does not count, and checks that all records
// arrive.
func (c *Contestant) Measure(r *Receiver, bursts int) (cost Cost, err error) {
	self, err := os.Executable()
	if err != nil {
		return Cost{}, err
	}
	before := r.Records()
	cmd := exec.Command(self, sendVerb, c.Name, r.URL(), strconv.Itoa(bursts))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := errors.Join(cmd.Run(), json.Unmarshal(out.Bytes(), &cost)); err != nil {
		return Cost{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	sent := (bursts + 1) * Burst
	if got := r.Records() - before; got != uint64(sent) {
		return Cost{}, fmt.Errorf("%s: %d records arrived, want %d", c.Name, got, sent)
	}
	cost.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(sent)
	return cost, nil
}
