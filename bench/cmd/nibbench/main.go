// SPDX-License-Identifier: Apache-2.0

// Command nibbench compares nib with other logging libraries, its codec with
// other encoders, and its pools with other pools. It checks that all do the
// same, then measures, and stores the results as text, each set in its own file
// in the directory of the processor's model:
//
//	go run ./cmd/nibbench                    # all, into results/<processor>/calls.txt, codec.txt and so on
//	go run ./cmd/nibbench -set pools         # one set: calls, codec, pools, files, spool, bridges or otlp
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
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bench/files"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/otlps"
	"github.com/nib-log/nib/bench/report"
)

func main() {
	child.Dispatch()
	files.Dispatch()
	otlps.Dispatch()
	if err := benchmark(); err != nil {
		fmt.Fprintln(os.Stderr, "nibbench:", err)
		os.Exit(1)
	}
}

// A plan lists the measurements and their duration.
type plan struct {
	only     *regexp.Regexp
	timing   measure.Config
	piped    int // calls per round into a pipe: many times the capacity of the pipe
	allocs   int // calls in each window that counts allocations
	calls    int // per contestant and latency scenario
	starts   int // starts of each hello program
	loads    int // rounds of the service scenario
	requests int // requests in each start
	divisor  int // divides the numbers of values in large pools
}

func benchmark() error {
	run := flag.String("run", "", "measure only scenarios whose `name` matches this expression (Hello and Service too)")
	name := flag.String("set", "", "measure only this `set`: calls, codec, pools, files, spool, bridges or otlp")
	rounds := flag.Int("rounds", 40, "rounds per contestant")
	quick := flag.Bool("quick", false, "few and short rounds, for a look or for CI")
	out := flag.String("o", "", "result `file`, with -set; default results/<processor>/<build>.txt, or stdout with -run or -quick")
	list := flag.Bool("list", false, "list the scenarios and end")
	checkOnly := flag.Bool("check", false, "only check that all print equivalent lines")
	flag.Parse()

	sets, err := chosen(*name)
	if err != nil {
		return err
	}
	if *out != "" && len(sets) > 1 {
		return errors.New("-o needs -set: each set has a file of its own")
	}
	if *list {
		for _, s := range sets {
			fmt.Println(strings.Join(s.names(), "\n"))
		}
		return nil
	}
	if err := checkLines(); err != nil {
		return err
	}
	if *checkOnly {
		return nil
	}
	only, err := regexp.Compile(*run)
	if err != nil {
		return err
	}
	p := newPlan(only, *rounds, *quick)
	found := false
	for i := range sets {
		path := *out
		if path == "" && *run == "" && !*quick {
			path = filepath.Join("results", report.FileName(processor().Key, sets[i].stored))
		}
		ok, err := sets[i].run(p, path)
		if err != nil {
			return err
		}
		found = found || ok
	}
	if !found {
		return fmt.Errorf("no scenario matches %q; -list names them", *run)
	}
	return nil
}

// checkLines lets each contestant that writes lines write one, and compares the
// lines.
func checkLines() error {
	for i := range bench.Scenarios {
		if err := bench.Check(&bench.Scenarios[i], bench.Peers()); err != nil {
			return err
		}
	}
	for _, s := range codec.Scenarios() {
		if err := codec.Check(&s); err != nil {
			return err
		}
	}
	for _, s := range files.Scenarios() {
		if err := files.Check(&s); err != nil {
			return err
		}
	}
	return nil
}

func newPlan(only *regexp.Regexp, rounds int, quick bool) *plan {
	if quick {
		return &plan{only: only, timing: measure.Config{Rounds: 5, Round: time.Millisecond},
			piped: 1000, allocs: 1000, calls: 10_000, starts: 3, loads: 1, requests: 2_000, divisor: 10}
	}
	return &plan{only: only, timing: measure.Config{Rounds: rounds, Round: 3 * time.Millisecond},
		piped: 8000, allocs: 10_000, calls: 200_000, starts: 20, loads: 5, requests: 100_000, divisor: 1}
}

// run measures a set and stores the results, if there are any. An empty path
// means stdout.
func (s *set) run(p *plan, path string) (found bool, err error) {
	results := &report.Results{Header: s.header(p)}
	if err := s.measure(p, results); err != nil {
		return false, err
	}
	if len(results.Lines) == 0 {
		return false, nil
	}
	return true, store(results, path)
}

func (p *plan) measure(results *report.Results) error {
	for i := range bench.Scenarios {
		s := &bench.Scenarios[i]
		if p.only.MatchString(s.Name) {
			progress(s.Name)
			if err := p.contest(results, s); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	for _, s := range bench.Scenarios {
		if name := s.Name + report.LatencySuffix; s.Latency && p.only.MatchString(name) {
			progress(name)
			p.latency(results, &s)
		}
	}
	if p.only.MatchString(report.HelloName) {
		progress(report.HelloName)
		if err := p.hello(results); err != nil {
			return err
		}
	}
	if p.only.MatchString(report.ServiceName) {
		progress(report.ServiceName)
		return p.service(results)
	}
	return nil
}

func scenarioNames() []string {
	var names []string
	for _, s := range bench.Scenarios {
		names = append(names, s.Name)
	}
	for _, s := range bench.Scenarios {
		if s.Latency {
			names = append(names, s.Name+report.LatencySuffix)
		}
	}
	return append(names, report.HelloName, report.ServiceName)
}

func progress(name string) { fmt.Fprintln(os.Stderr, name) }

func store(results *report.Results, path string) error {
	var w io.Writer = os.Stdout
	if path != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	return results.Write(w)
}
