// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
)

const codecSample = `go: go1.26.8
peer: sonic v1

BenchmarkJSONStruct/nib            100  100.0 ns/op   0.40 ratio  0.000 mallocs/op  0.0 B/op
BenchmarkJSONStruct/encoding/json  100  1000.0 ns/op  4.00 ratio  1.000 mallocs/op  48.0 B/op
BenchmarkJSONStruct/sonic          100  250.0 ns/op   1.00 ratio  2.001 mallocs/op  64.0 B/op

BenchmarkJSONMap/nib         100  201.0 ns/op  1.00 ratio  0.000 mallocs/op  0.0 B/op
BenchmarkJSONMap/nib-struct  100  60.0 ns/op   0.30 ratio  0.000 mallocs/op  0.0 B/op
BenchmarkJSONMap/sonic       100  200.0 ns/op  1.00 ratio  2.000 mallocs/op  112.0 B/op
`

func codecRun(t *testing.T) *Run {
	t.Helper()
	base, err := Read(strings.NewReader(codecSample))
	if err != nil {
		t.Fatal(err)
	}
	return &Run{base}
}

func TestCodecTables(t *testing.T) {
	got := codecRun(t).CodecTables()
	for _, want := range []string{
		"|  | ns | ÷ bytedance/sonic | allocations | bytes |\n",
		"| **nib** | 100 | 0.40× | 0 | 0 |\n| encoding/json | 1,000 | 4.00× | 1 | 48 |\n",
		"| bytedance/sonic | 250 | 1.00× | 2 | 64 |\n",
		"| **nib, the same as a struct** | 60 | 0.30× | 0 | 0 |",
		"| a struct of 12 fields: nib | bytedance/sonic | 0.6× | **0.40×** |\n",
		"| a map[string]any of 6 entries, sorted: nib | a struct of 12 fields: nib | 2× | **2.01×** |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, none := range []string{"typed line", "logrus", "\n\n\n"} {
		if strings.Contains(got, none) {
			t.Errorf("%q, which was not measured, in\n%s", none, got)
		}
	}
}

func TestMissedLimits(t *testing.T) {
	got := strings.Join(Missed(codecRun(t).Results), "\n")
	const want = "a map[string]any of 6 entries, sorted: nib takes 1.00 times as long as bytedance/sonic, want at most 0.70\n" +
		"a map[string]any of 6 entries, sorted: nib takes 2.01 times as long as a struct of 12 fields: nib, want at most 2.00"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
