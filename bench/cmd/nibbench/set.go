// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/otlps"
	"github.com/nib-log/nib/bench/pools"
	"github.com/nib-log/nib/bench/report"
	"github.com/nib-log/nib/bench/spools"
)

// A set is a part of the benchmark with its own results.
type set struct {
	name    string // the value of -set
	stored  string // used in the name of the result file
	latency bool   // single operations are timed, too
	names   func() []string
	peers   func() []peer
	rounds  func(p *plan) string
	measure func(p *plan, results *report.Results) error
}

// A peer is a module that takes part.
type peer struct{ name, module string }

var sets = []set{
	{name: "calls", stored: report.Calls, latency: true, names: scenarioNames, peers: libraries, measure: (*plan).measure,
		rounds: func(p *plan) string {
			return fmt.Sprintf("%d of about %v, of %d calls into a pipe", p.timing.Rounds, p.timing.Round, p.piped)
		}},
	{name: "codec", stored: report.Codec, names: codecNames, peers: codecModules, measure: (*plan).codec,
		rounds: func(p *plan) string { return fmt.Sprintf("%d of about %v", p.brief().Rounds, p.brief().Round) }},
	{name: "pools", stored: report.Pools, names: poolNames, peers: poolModules, measure: (*plan).pools,
		rounds: func(p *plan) string { return fmt.Sprintf("%d of about %v", p.timing.Rounds, p.timing.Round) }},
	{name: "files", stored: report.Files, names: fileNames, peers: fileModules, measure: (*plan).files,
		rounds: func(p *plan) string { return fmt.Sprintf("%d of %d lines", p.timing.Rounds, p.fileLines()) }},
	{name: "spool", stored: report.Spool, names: spoolNames, peers: libraries, measure: (*plan).spool,
		rounds: func(p *plan) string {
			return fmt.Sprintf("%d of %d lines; %v at %d a second", p.timing.Rounds, p.fileLines(), p.atRate(), spools.Rate)
		}},
	{name: "bridges", stored: report.Bridges, names: bridgeNames, peers: bridgeModules, measure: (*plan).bridges,
		rounds: func(p *plan) string { return fmt.Sprintf("%d of about %v", p.brief().Rounds, p.brief().Round) }},
	{name: "otlp", stored: report.OTLP, names: func() []string { return []string{otlps.Name} }, peers: otlpModules, measure: (*plan).otlp,
		rounds: func(p *plan) string {
			return fmt.Sprintf("%d processes, %d bursts of %d records in each", p.otlpRounds(), p.otlpBursts(), otlps.Burst)
		}},
}

// chosen returns the sets that -set names, or all if name is empty.
func chosen(name string) ([]set, error) {
	if name == "" {
		return sets, nil
	}
	for i := range sets {
		if sets[i].name == name {
			return sets[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("no set %q; want one of calls, codec, pools, files, spool, bridges and otlp", name)
}

func libraries() []peer {
	var all []peer
	for _, p := range bench.Peers() {
		if p.Module != "" {
			all = append(all, peer{p.Name, p.Module})
		}
	}
	return all
}

func poolModules() []peer {
	var all []peer
	for _, m := range pools.Modules {
		all = append(all, peer{m.Name, m.Path})
	}
	return all
}
