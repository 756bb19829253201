// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

// header returns the conditions of the measurement. The only part of the
// machine that it names is the processor.
func header(s *measure.Set, p *plan) []report.Field {
	fields := []report.Field{
		{Key: "go", Value: runtime.Version()},
		{Key: "goos", Value: runtime.GOOS},
		{Key: "goarch", Value: runtime.GOARCH},
		{Key: "cpu", Value: processor().Name},
		{Key: "cpus", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: "date", Value: time.Now().UTC().Format(time.DateOnly)},
		{Key: "rounds", Value: fmt.Sprintf("%d of about %v, or fewer of a fixed number of operations", p.timing.Rounds, p.timing.Round)},
	}
	if processor().Model != "" {
		fields = append(fields, report.Field{Key: "model", Value: processor().Model})
	}
	fields = append(fields, commit()...)
	if s.Name == "calls" {
		fields = append(fields, report.Field{Key: "clock", Value: fmt.Sprintf("%.0f ns in each call of the latency lines", measure.ClockCost())})
	}
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	for _, peer := range s.Modules {
		fields = append(fields, report.Field{Key: "peer", Value: peer.Name + " " + versions[peer.Path]})
	}
	return fields
}

// processor is the processor of this machine.
var processor = sync.OnceValue(func() report.Processor {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return report.ReadProcessor(strings.NewReader(""), runtime.GOOS, runtime.GOARCH)
	}
	defer f.Close()
	return report.ReadProcessor(f, runtime.GOOS, runtime.GOARCH)
})

// commit is the measured commit: the hash that is checked out, whether code was
// changed since, and its time. It is empty in a copy without git.
var commit = sync.OnceValue(func() []report.Field {
	log := exec.Command("git", "log", "-1", "--abbrev=9", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%h %cd")
	log.Env = append(os.Environ(), "TZ=UTC")
	out, err := log.Output()
	hash, date, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !ok {
		return nil
	}
	changed, err := exec.Command("git", "status", "--porcelain", "--", ":/*.go", ":/*.s", ":/*go.mod").Output()
	if err != nil || len(changed) > 0 {
		hash += " with changes"
	}
	return []report.Field{{Key: "commit", Value: hash}, {Key: "committed", Value: date}}
})
