// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/report"
)

func results(t *testing.T, text string) *report.Results {
	t.Helper()
	r, err := report.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRowsThatAreSlowerAreCounted(t *testing.T) {
	before, after := minima{}, minima{}
	before.add(results(t, "BenchmarkA/nib 10 100.0 ns/op\nBenchmarkB/nib 10 100.0 ns/op\nBenchmarkA/zap 10 50.0 ns/op\n"))
	after.add(results(t, "BenchmarkA/nib 10 110.0 ns/op\nBenchmarkB/nib 10 103.0 ns/op\nBenchmarkC/nib 10 1.0 ns/op\nBenchmarkA/zap 10 100.0 ns/op\n"))
	after.add(results(t, "BenchmarkA/nib 10 102.0 ns/op\nBenchmarkB/nib 10 120.0 ns/op\n"))
	var b strings.Builder
	if got := write(&b, "calls", before, after, 1.02); got != 1 {
		t.Errorf("got %d slower rows, want 1\n%s", got, &b)
	}
	for _, want := range []string{"A/nib  100.0       102.0      1.020  \n", "B/nib  100.0       103.0      1.030  slower\n", "other libraries: median 2.000"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant a line %q", &b, want)
		}
	}
	if strings.Contains(b.String(), "C/nib") {
		t.Errorf("got a row that the base does not have:\n%s", &b)
	}
}
