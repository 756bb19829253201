// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/nib-log/nib/bench/otlps"
	"github.com/nib-log/nib/bench/report"
)

// otlp measures the cost of delivering records to a receiver of OTLP, in
// processes that take turns.
func (p *plan) otlp(results *report.Results) error {
	if !p.only.MatchString(otlps.Name) {
		return nil
	}
	progress(otlps.Name)
	r := otlps.NewReceiver()
	defer r.Close()
	least := make([]otlps.Cost, len(otlps.Contestants))
	for round := range p.otlpRounds() {
		for k := range otlps.Contestants {
			i := (k + round) % len(otlps.Contestants)
			cost, err := otlps.Contestants[i].Measure(r, p.otlpBursts())
			if err != nil {
				return err
			}
			if round > 0 {
				cost.Burst, cost.CPU = min(cost.Burst, least[i].Burst), min(cost.CPU, least[i].CPU)
			}
			least[i] = cost
		}
	}
	for i, c := range otlps.Contestants {
		n := float64(least[i].Records)
		results.Add(otlps.Name, c.Name, least[i].Records,
			report.Value{Number: float64(least[i].Burst) / otlps.Burst, Decimals: 0, Unit: report.UnitTime},
			report.Value{Number: float64(least[i].CPU), Decimals: 0, Unit: report.UnitRecordCPU},
			report.Value{Number: float64(least[i].Mallocs) / n, Decimals: 3, Unit: report.UnitMallocs},
			report.Value{Number: float64(least[i].Bytes) / n, Decimals: 0, Unit: report.UnitBytes})
	}
	return nil
}

// otlpRounds returns the number of processes of each contestant, and otlpBursts
// the number of bursts that a process sends.
func (p *plan) otlpRounds() int { return max(1, p.timing.Rounds/8) }
func (p *plan) otlpBursts() int { return max(1, p.timing.Rounds/5) }

func otlpModules() []peer {
	var all []peer
	for _, m := range otlps.Modules {
		all = append(all, peer{m.Name, m.Path})
	}
	return all
}
