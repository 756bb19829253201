// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/report"
)

// bridges measures nib behind other APIs.
func (p *plan) bridges(results *report.Results) error {
	for _, s := range bridges.Scenarios() {
		if p.only.MatchString(s.Name) {
			progress(s.Name)
			p.codecContest(results, &s)
		}
	}
	return nil
}

func bridgeNames() []string {
	var names []string
	for _, s := range bridges.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

func bridgeModules() []peer {
	var all []peer
	for _, m := range bridges.Modules {
		all = append(all, peer{m.Name, m.Path})
	}
	return all
}
