// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"math"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

// A contestant is a peer that is ready for a scenario.
type contestant struct {
	peer *bench.Peer
	do   func(n int)
	end  func()
}

// prepare prepares all peers that support s, with w as their writer.
func prepare(s *bench.Scenario, w io.Writer) []contestant {
	var all []contestant
	for _, p := range bench.Peers() {
		setup := s.Setup(p)
		if setup == nil {
			continue
		}
		run := setup(w)
		c := contestant{peer: p, do: run.Do, end: func() {}}
		if run.Close != nil {
			c.end = run.Close
		}
		if s.Goroutines > 1 {
			crew := measure.NewCrew(s.Goroutines, run.Do)
			end := c.end
			c.do, c.end = crew.Do, func() { crew.Close(); end() }
		}
		if do := c.do; run.Flush != nil {
			c.do = func(n int) { do(n); run.Flush() }
		}
		all = append(all, c)
	}
	return all
}

// contest measures one scenario: times, then allocations.
func (p *plan) contest(results *report.Results, s *bench.Scenario) error {
	var w io.Writer = io.Discard
	if s.Pipe {
		drain, err := child.StartDrain()
		if err != nil {
			return err
		}
		defer drain.Close()
		w = drain.W
	}
	contestants := prepare(s, w)
	timed := make([]measure.Contestant, len(contestants))
	for i, c := range contestants {
		timed[i] = measure.Contestant{Name: c.peer.Name, Do: c.do}
		defer c.end()
	}
	timing := p.timing
	if s.Pipe {
		timing.Ops = p.piped
	}
	timings := measure.Alternate(timed, timing)
	fastest := fastestPeer(s, contestants, timings)
	for i, c := range contestants {
		mallocs, bytes := measure.Allocs(c.do, p.allocs, 5)
		t := timings[i]
		results.Add(s.Name, c.peer.Name, t.N,
			report.Value{Number: t.Least, Decimals: 1, Unit: report.UnitTime},
			report.Value{Number: t.Median, Decimals: 1, Unit: report.UnitMedian},
			report.Value{Number: t.Least / fastest, Decimals: 2, Unit: report.UnitRatio},
			report.Value{Number: mallocs, Decimals: 3, Unit: report.UnitMallocs},
			report.Value{Number: bytes, Decimals: 1, Unit: report.UnitBytes})
	}
	return nil
}

// fastestPeer returns the time that ratios refer to: the minimum of the peers
// other than nib that print the expected line.
func fastestPeer(s *bench.Scenario, contestants []contestant, timings []measure.Timing) float64 {
	fastest := math.Inf(1)
	for i, c := range contestants {
		if c.peer.Name != "nib" && !bench.Excepted(s, c.peer) {
			fastest = min(fastest, timings[i].Least)
		}
	}
	return fastest
}

// latency times single calls of one scenario.
func (p *plan) latency(results *report.Results, s *bench.Scenario) {
	contestants := prepare(s, io.Discard)
	timed := make([]measure.Contestant, len(contestants))
	for i, c := range contestants {
		timed[i] = measure.Contestant{Name: c.peer.Name, Do: c.do}
		defer c.end()
	}
	for i, l := range measure.Latencies(timed, p.calls) {
		results.Add(s.Name+report.LatencySuffix, timed[i].Name, l.N,
			report.Value{Number: l.P50, Unit: report.UnitP50},
			report.Value{Number: l.P99, Unit: report.UnitP99},
			report.Value{Number: l.P999, Unit: report.UnitP999},
			report.Value{Number: l.Max, Unit: report.UnitMax})
	}
}

// hello measures the programs that log one line.
func (p *plan) hello(results *report.Results) error {
	for _, name := range bench.Hellos() {
		h, err := child.BuildHello(name, p.starts)
		if err != nil {
			return err
		}
		results.Add(report.HelloName, name, p.starts,
			report.Value{Number: float64(h.Size), Unit: report.UnitSize},
			report.Value{Number: h.Init, Unit: report.UnitInit})
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
			report.Value{Number: float64(best[i].CPU.Nanoseconds()) / 1000, Decimals: 2, Unit: report.UnitCPU})
	}
	return nil
}
