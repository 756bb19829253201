// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/files"
)

const fileSample = `go: go1.26.8
goos: linux
goarch: amd64
cpu: A
cpus: 2
date: 2026-01-02
rounds: 40 of 10000 lines
peer: lumberjack v2

BenchmarkFileFields/nib                 9 1500.0 ns/op 0.75 ratio 0.000 mallocs/op 292 line-B
BenchmarkFileFields/nib-buffered        9 300.0 ns/op 0.15 ratio 0.000 mallocs/op 292 line-B
BenchmarkFileFields/zerolog+lumberjack  9 2000.0 ns/op 1.00 ratio 0.000 mallocs/op 284 line-B
BenchmarkFileFields/phuslu-async        9 280.0 ns/op 0.14 ratio 0.500 mallocs/op 292 line-B

BenchmarkFileRotate/nib         9 1000.0 ns/op 1.25 ratio 0.030 mallocs/op 1048 line-B
BenchmarkFileRotate/lumberjack  9 800.0 ns/op 1.00 ratio 0.020 mallocs/op 1048 line-B

BenchmarkFileProcesses/nib         1000 0 lost 0 damaged 0 refused 998 rotated 1998.7 rotate/s
BenchmarkFileProcesses/lumberjack  1000 511 lost 1 damaged 107 refused 553 rotated 591.2 rotate/s
`

func TestFileTables(t *testing.T) {
	base, err := Read(strings.NewReader(fileSample))
	if err != nil {
		t.Fatal(err)
	}
	got := (&Run{base}).FileTables()
	for _, want := range []string{
		"Go 1.26.8, linux/amd64, A, 2 CPUs, 2026-01-02. lumberjack v2, slog of the same Go. Rounds: 40 of 10000 lines.\n",
		"|  | one goroutine, ns | ÷ zerolog + lumberjack | bytes of the line |\n",
		"| **nib, buffered** | 300 | 0.15× | 292 |\n| zerolog + lumberjack | 2,000 | 1.00× | 284 |\n",
		"| phuslu, async | 280 (0.5) | 0.14× | 292 |\n",
		"|  | a new file every 1,000 lines, ns | ÷ lumberjack |\n",
		"| lumberjack | 800 (0.02) | 1.00× |\n",
		"| **nib** | 1,000 | 0 | 0 | 0 | 998 | 1,999 |\n", "| lumberjack | 1,000 | 511 | 1 | 107 | 553 | 591 |\n",
		"from 1.05 up; those that hold lines back are compared with nib, buffered.\n\n" +
			"- loggers, one goroutine: phuslu, async 1.07×\n- writers, a new file every 1,000 lines: lumberjack 1.25×\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "8 goroutines") || strings.Contains(got, "\n\n\n") {
		t.Errorf("a column that was not measured, or a gap, in\n%s", got)
	}
}

// The results that a stored run must show: nib's time as a fraction of
// another's, no allocations, no loss.
var (
	fileFloors = []floor{
		{"FileFields", files.Phuslu, 1},
	}
	bufferedFileFloors = []floor{
		{"FileFields", files.Zerolog, 0.25},
		{"FileFields", files.Phuslu, 1},
		{"FileFields", files.PhusluAsync, 1},
		{"FileFields8", files.Zerolog, 0.25},
		{"FileFields8", files.Phuslu, 1},
		{"FileWrite", files.Lumberjack, 0.25},
		{"FileWrite", files.Phuslu, 1},
	}
)

func missedByFiles(build string, r *Results) []string {
	var all []string
	for contestant, floors := range map[string][]floor{files.Nib: fileFloors, files.NibBuffered: bufferedFileFloors} {
		for _, f := range floors {
			if m := missedFloor(build, r, contestant, f); m != "" {
				all = append(all, m)
			}
		}
	}
	for _, scenario := range []string{"FileFields", "FileFields8", "FileWrite", "FileWrite8"} {
		for _, c := range []string{files.Nib, files.NibBuffered} {
			if mallocs, ok := r.Get(scenario, c, UnitMallocs); !ok || mallocs >= 0.001 {
				all = append(all, fmt.Sprintf("%s: %s: %.3f allocations, measured %v, want none", scenario, c, mallocs, ok))
			}
		}
	}
	for _, unit := range []string{UnitLinesLost, UnitDamaged, UnitRefused} {
		if n, ok := r.Get(FileProcesses, files.Nib, unit); !ok || n > 0 {
			all = append(all, fmt.Sprintf("two processes: %v %s, measured %v, want 0", n, unit, ok))
		}
	}
	if rate, ok := r.Get(FileProcesses, files.Nib, UnitRotations); !ok || rate < 1000 {
		all = append(all, fmt.Sprintf("two processes: %.0f rotations a second, measured %v, want 1,000", rate, ok))
	}
	return all
}

func TestStoredResultsOfTheFilesMeetTheFloors(t *testing.T) {
	families, err := Load(filepath.Join("..", "results"), Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range missedByFiles(f.Key, f.Results) {
			t.Errorf("%s: %s", f.Key, m)
		}
	}
}

func TestFileFloorsCanBeMissed(t *testing.T) {
	var slow Results
	slow.Add("FileFields", files.NibBuffered, 1, Value{Number: 26, Unit: UnitTime}, Value{Number: 0.001, Unit: UnitMallocs})
	slow.Add("FileFields", files.Zerolog, 1, Value{Number: 100, Unit: UnitTime})
	slow.Add(FileProcesses, files.Nib, 1, Value{Number: 1, Unit: UnitLinesLost}, Value{Number: 0, Unit: UnitDamaged})
	if got, want := missedByFiles("", &slow), len(fileFloors)+len(bufferedFileFloors)+8+3; len(got) != want {
		t.Errorf("%d missed, want %d: %v", len(got), want, got)
	}
}
