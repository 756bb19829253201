// SPDX-License-Identifier: Apache-2.0

// Command nibbench compares nib with other logging libraries, its codec with
// other encoders, and its pools with other pools. It checks that all do the
// same, then measures, and stores the results as text, each set in its own file
// in the directory of the processor's model:
//
//	go run ./cmd/nibbench                    # all, into results/<processor>/calls.txt, codec.txt and so on
//	go run ./cmd/nibbench -set pools         # one set; -list names them and their scenarios
//	go run ./cmd/nibbench -quick             # a minute or less, to stdout only
//	go run ./cmd/nibbench -run '^Ten|Pipe'   # some scenarios, to stdout only
//
// Run it within the bench module. Only figures of one run may be compared with
// each other.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

func main() {
	child.Dispatch()
	if err := benchmark(); err != nil {
		fmt.Fprintln(os.Stderr, "nibbench:", err)
		os.Exit(1)
	}
}

// A plan lists the measurements and their duration.
type plan struct {
	only     *regexp.Regexp
	timing   measure.Config
	allocs   int // calls in each window that counts allocations
	calls    int // per contestant and latency scenario
	loads    int // rounds of the service scenario
	requests int // requests in each start
	divisor  int // divides the numbers of operations that scenarios have
}

func benchmark() error {
	run := flag.String("run", "",
		"measure only scenarios whose `name` matches this expression (Service too)")
	name := flag.String("set", "", "measure only this `set`")
	rounds := flag.Int("rounds", 40, "rounds per contestant")
	quick := flag.Bool("quick", false, "few and short rounds, for a look or for CI")
	out := flag.String("o", "",
		"result `file`, with -set; default results/<processor>/<set>.txt, or stdout with -run or "+
			"-quick")
	list := flag.Bool("list", false, "list the sets and scenarios and end")
	flag.Parse()
	if *out != "" && *name == "" {
		return errors.New("-o needs -set: each set has a separate file")
	}
	only, err := regexp.Compile(*run)
	if err != nil {
		return err
	}
	p, found := newPlan(only, *rounds, *quick), false
	for _, s := range report.Sets() {
		if *name != "" && *name != s.Name {
			continue
		}
		if *list {
			printNames(&s)
			found = true
			continue
		}
		path := *out
		if path == "" && *run == "" && !*quick {
			path = filepath.Join("results", processor().Key, s.Name+".txt")
		}
		results, err := p.measure(&s)
		if err != nil {
			return err
		}
		if len(results.Lines) > 0 {
			found = true
			if err := store(results, path); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no scenario of set %q matches %q; -list names them", *name, *run)
	}
	return nil
}

func printNames(s *measure.Set) {
	for _, t := range s.Tables {
		for _, x := range t.Scenarios {
			fmt.Println(s.Name, x.Name)
			if x.Latency {
				fmt.Println(s.Name, x.Name+report.LatencySuffix)
			}
		}
	}
}

func newPlan(only *regexp.Regexp, rounds int, quick bool) *plan {
	if quick {
		return &plan{only: only, timing: measure.Config{Rounds: 5, Round: time.Millisecond},
			allocs: 1000, calls: 10_000, loads: 1, requests: 2_000, divisor: 10}
	}
	return &plan{only: only, timing: measure.Config{Rounds: rounds, Round: 3 * time.Millisecond},
		allocs: 10_000, calls: 200_000, loads: 5, requests: 100_000, divisor: 1}
}

// measure checks and measures a set.
func (p *plan) measure(s *measure.Set) (*report.Results, error) {
	results := &report.Results{Header: header(s, p)}
	for _, t := range s.Tables {
		for _, x := range t.Scenarios {
			if !p.only.MatchString(x.Name) &&
				!(x.Latency && p.only.MatchString(x.Name+report.LatencySuffix)) {
				continue
			}
			fmt.Fprintln(os.Stderr, x.Name)
			if err := x.Verify(); err != nil {
				return nil, err
			}
			if err := p.contest(results, &x); err != nil {
				return nil, fmt.Errorf("%s: %w", x.Name, err)
			}
		}
	}
	if s.Name == "calls" && p.only.MatchString(report.ServiceName) {
		fmt.Fprintln(os.Stderr, report.ServiceName)
		return results, p.service(results)
	}
	return results, nil
}

// contest measures one scenario: times, then allocations, then single calls.
func (p *plan) contest(results *report.Results, x *measure.Scenario) (err error) {
	var w io.Writer = io.Discard
	if x.Pipe {
		drain := child.StartDrain()
		defer drain.Close()
		w = drain.W
	}
	runs, end := x.StartAll(w)
	defer func() { err = errors.Join(err, end()) }()
	timing, allocs, windows := p.timing, p.allocs, 5
	if x.Ops > 0 {
		timing.Ops = max(1, x.Ops/p.divisor)
		allocs = min(timing.Ops, 100*p.allocs)
	}
	if x.Rounds > 0 {
		timing.Rounds, windows = min(timing.Rounds, x.Rounds), 2
	}
	timings := measure.Alternate(runs, timing)
	for i, t := range timings {
		name := x.Contestants[i].Name
		mallocs, bytes := runs[i].Allocs(allocs, windows)
		if check := runs[i].Check; check != nil {
			if err := check(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		results.Add(x.Name, name, t.N,
			report.Value{Number: t.Least, Unit: report.UnitTime},
			report.Value{Number: t.Median, Unit: report.UnitMedian},
			report.Value{Number: mallocs, Unit: report.UnitMallocs},
			report.Value{Number: bytes, Unit: report.UnitBytes})
	}
	if !x.Latency {
		return nil
	}
	for i, l := range measure.Latencies(runs, p.calls) {
		results.Add(x.Name+report.LatencySuffix, x.Contestants[i].Name, l.N,
			report.Value{Number: l.P50, Unit: report.UnitP50},
			report.Value{Number: l.P99, Unit: report.UnitP99},
			report.Value{Number: l.P999, Unit: report.UnitP999},
			report.Value{Number: l.Max, Unit: report.UnitMax})
	}
	return nil
}

// service runs the HTTP service with every way to log, in turns. It reports the
// best run of each, for requests and CPU time separately.
func (p *plan) service(results *report.Results) error {
	const conns = 8
	services := bench.Services()
	best := make([]child.Load, len(services))
	for r := range p.loads {
		for k := range services {
			i := (k + r) % len(services)
			got, err := child.Service(services[i].Name, conns, p.requests)
			if err != nil {
				return err
			}
			if r == 0 || got.CPU < best[i].CPU {
				best[i].CPU = got.CPU
			}
			best[i].PerSecond = max(best[i].PerSecond, got.PerSecond)
		}
	}
	for i, s := range services {
		results.Add(report.ServiceName, s.Name, p.requests,
			report.Value{Number: best[i].PerSecond, Unit: report.UnitRequests},
			report.Value{Number: float64(best[i].CPU.Nanoseconds()) / 1000, Unit: report.UnitCPU})
	}
	return nil
}

func store(results *report.Results, path string) error {
	if path == "" {
		_, err := os.Stdout.Write(results.Text())
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, results.Text(), 0o644))
}

// header returns the conditions of the measurement. The only part of the
// machine that it names is the processor.
func header(s *measure.Set, p *plan) []string {
	lines := []string{"go: " + runtime.Version(), "goos: " + runtime.GOOS,
		"goarch: " + runtime.GOARCH,
		"cpu: " + processor().Name, fmt.Sprint("cpus: ", runtime.NumCPU()),
		"date: " + time.Now().UTC().Format(time.DateOnly),
		fmt.Sprintf("rounds: %d of about %v, or fewer of a fixed number of operations",
			p.timing.Rounds, p.timing.Round)}
	if processor().Model != "" {
		lines = append(lines, "model: "+processor().Model)
	}
	lines = append(lines, commit()...)
	if s.Name == "calls" {
		lines = append(lines, fmt.Sprintf("clock: %.0f ns in each call of the latency lines",
			measure.ClockCost()))
	}
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	for _, peer := range s.Modules {
		lines = append(lines, "peer: "+peer.Name+" "+versions[peer.Path])
	}
	return lines
}

// processor is the processor of this machine.
var processor = sync.OnceValue(func() report.Processor {
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo") // only Linux has it
	return report.ReadProcessor(string(cpuinfo), runtime.GOOS, runtime.GOARCH)
})

// commit is the measured commit: the hash that is checked out, whether code was
// changed since, and its time. It is empty in a copy without git.
var commit = sync.OnceValue(func() []string {
	log := exec.Command("git", "log", "-1", "--abbrev=9", "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
		"--format=%h %cd")
	log.Env = append(os.Environ(), "TZ=UTC")
	out, err := log.Output()
	hash, date, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !ok {
		return nil
	}
	status := exec.Command("git", "status", "--porcelain", "--", ":/*.go", ":/*.s", ":/*go.mod")
	if changed, err := status.Output(); err != nil || len(changed) > 0 {
		hash += " with changes"
	}
	return []string{"commit: " + hash, "committed: " + date}
})
