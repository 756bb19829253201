// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

// header returns the conditions of the measurement. Of the machine it names
// only the processor.
func (s *set) header(p *plan) []report.Field {
	fields := []report.Field{
		{Key: "build", Value: bench.Build},
		{Key: "go", Value: runtime.Version()},
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "cpu", Value: cpuModel()},
		{Key: "cpus", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: "date", Value: time.Now().UTC().Format(time.DateOnly)},
		{Key: "rounds", Value: s.rounds(p)},
	}
	if s.latency {
		fields = append(fields, report.Field{Key: "clock", Value: fmt.Sprintf("%.0f ns in each call of the latency lines", measure.ClockCost())})
	}
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	for _, peer := range s.peers() {
		fields = append(fields, report.Field{Key: "peer", Value: peer.name + " " + versions[peer.module]})
	}
	return fields
}

// cpuModel reads the processor's name from a file of the system, if there is
// one.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return runtime.GOARCH
}
