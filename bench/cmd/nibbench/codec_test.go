// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"testing"
	"time"

	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

func TestTheCodecIsMeasuredBesideAllOthers(t *testing.T) {
	p := plan{only: regexp.MustCompile(""), timing: measure.Config{Rounds: 1, Round: 80 * time.Microsecond}, allocs: 64, divisor: 10}
	results := &report.Results{}
	if err := p.codec(results); err != nil {
		t.Fatal(err)
	}
	for _, s := range codec.Scenarios() {
		for _, c := range s.Contestants {
			ns, ok := results.Get(s.Name, c.Name, report.UnitTime)
			if !ok || ns <= 0 {
				t.Errorf("%s, %s: %v ns, measured %v", s.Name, c.Name, ns, ok)
			}
			if ratio, _ := results.Get(s.Name, c.Name, report.UnitRatio); ok && c.Name == s.Versus && ratio != 1 {
				t.Errorf("%s, %s: ratio %v to itself", s.Name, c.Name, ratio)
			}
		}
	}
}
