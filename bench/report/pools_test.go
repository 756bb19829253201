// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/pools"
)

const poolSample = `go: go1.26.8
goos: linux
goarch: amd64
cpu: A
cpus: 2
date: 2026-01-02
rounds: 40
peer: zeropool v1

BenchmarkBytes/nib                    9 10.0 ns/op 11.0 median-ns/op 0.40 ratio 0.000 mallocs/op 0.0 B/op 0.000 lost/op
BenchmarkBytes/zeropool               9 25.0 ns/op 26.0 median-ns/op 1.00 ratio 0.000 mallocs/op 0.0 B/op 0.000 lost/op
BenchmarkBytes/mutex+slice            9 9.0 ns/op 26.0 median-ns/op 1.00 ratio 0.000 mallocs/op 0.0 B/op 0.000 lost/op
BenchmarkBytes/sync.Pool-value        9 30.0 ns/op 31.0 median-ns/op 1.20 ratio 1.000 mallocs/op 24.0 B/op 0.000 lost/op
BenchmarkBytes/sync.Pool-new-pointer  9 30.0 ns/op 31.0 median-ns/op 1.20 ratio 1.000 mallocs/op 24.0 B/op 0.250 lost/op

`

func TestPoolTables(t *testing.T) {
	base, err := Read(strings.NewReader(poolSample))
	if err != nil {
		t.Fatal(err)
	}
	got := (&Run{base}).PoolTables()
	for _, want := range []string{
		"Go 1.26.8, linux/amd64, A, 2 CPUs, 2026-01-02. zeropool v1. Rounds: 40.\n",
		"| same goroutine, allocs/op | **0** | 0 | 1 | 1 | – |\n",
		"|  | **nib** | zeropool | mutex+slice | sync.Pool, value | sync.Pool, new pointer | nib ÷ zeropool |\n",
		"| []byte | **10** | 25 | 9.0 | 30 (1) | 30 (1), 25.0 % lost | 0.40× |\n",
		"from 1.05 up.\n\n- Get and Put, []byte: mutex+slice 1.11×\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "struct of 64") {
		t.Errorf("a row that was not measured in\n%s", got)
	}
}

func TestPoolTablesShowEveryScenario(t *testing.T) {
	shown := []string{"HandoverDirect"} // in zeropool's own table
	for _, p := range poolTables {
		shown = append(shown, p.scenarios...)
	}
	for _, s := range pools.Scenarios() {
		if !slices.Contains(shown, s.Name) {
			t.Errorf("%s: in no table", s.Name)
		}
	}
	for _, p := range poolTables {
		versus := map[string]bool{}
		for _, name := range p.scenarios {
			i := slices.IndexFunc(pools.Scenarios(), func(s pools.Scenario) bool { return s.Name == name })
			if i < 0 {
				t.Errorf("table %q: no scenario %s", p.title, name)
				continue
			}
			versus[pools.Scenarios()[i].Versus] = true
		}
		if len(versus) > 1 {
			t.Errorf("table %q: the ratios of its rows refer to %v, want one", p.title, versus)
		}
	}
}
