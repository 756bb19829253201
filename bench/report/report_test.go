// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
)

// The documents must match the stored results. A missing document, as in a copy
// of this module alone, is skipped.
func TestDocumentsAreUpToDate(t *testing.T) {
	for _, d := range Documents() {
		results, err := Load("../results", d.Set)
		if err != nil {
			t.Fatal(err)
		}
		present, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(d.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if want, err := d.Render(results[0], string(present)); err != nil ||
			want != string(present) {
			t.Errorf("%s is out of date (%v); run go run ./cmd/table in bench", d.Path, err)
		}
	}
}

const sample = `go: go1.26.8
goos: linux
goarch: amd64
cpu: A(R) Processor
cpus: 2
model: family 6, model 1
date: 2026-02-01
commit: c-1
committed: 2026-02-01T10:00:00Z
rounds: 40
peer: zerolog v1
peer: zap v2

BenchmarkMessage/nib      100  50.0 ns/op   51.0 median-ns/op  0.000 mallocs/op  0.0 B/op
BenchmarkMessage/zerolog  90   100.0 ns/op  101.0 median-ns/op 0.000 mallocs/op  0.0 B/op
BenchmarkMessage/logrus   9    1234.6 ns/op 1300.0 median-ns/op 17.000 mallocs/op 856.0 B/op

BenchmarkMessageLatency/nib  10  97 p50-ns  171 p99-ns  567 p99.9-ns  22655 max-ns

BenchmarkEscapes/nib      100  200.0 ns/op  210.0 median-ns/op 0.000 mallocs/op  0.0 B/op
BenchmarkEscapes/phuslu   90   150.0 ns/op  151.0 median-ns/op 0.000 mallocs/op  0.0 B/op
BenchmarkEscapes/zap      90   400.0 ns/op  151.0 median-ns/op 0.000 mallocs/op  0.0 B/op

BenchmarkError/nib      100  90.0 ns/op
BenchmarkError/slog     100  60.0 ns/op

BenchmarkService/off      9    50000 req/s  20.10 cpu-us/req
BenchmarkService/nib      9    45000 req/s  22.20 cpu-us/req
`

// stored writes the sample, and the results of another processor at an earlier
// commit, which has no pools.
func stored(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	older := strings.NewReplacer("A(R) Processor", "B", "model: family 6, model 1\n", "", "2026-02", "2026-01",
		" 50.0", " 75.0").Replace(sample)
	for path, text := range map[string]string{
		"a-1/calls.txt": sample, "a-1/pools.txt": sample, "b-2/calls.txt": older,
		"b-2/notes.md": "not results", "stray.txt": "not of a family",
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, dir string) []*Results {
	t.Helper()
	results, err := Load(dir, "calls")
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestResultsComeBackAsWritten(t *testing.T) {
	want, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parse(want.Text()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"no header and no result", "BenchmarkX/nib 1 2 ns/op 3", "BenchmarkX 1 2 ns/op",
		"BenchmarkX/nib one 2 ns/op", "BenchmarkX/nib 1 two ns/op", "BenchmarkX/nib 1",
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestTables(t *testing.T) {
	set, dir := bench.Set(), stored(t)
	mustContain(t, load(t, dir)[0].full(&set),
		"Go 1.26.8, linux/amd64, A(R) Processor, family 6, model 1, 2 CPUs, 2026-02-01 at commit c-1. "+
			"zerolog v1, zap v2. Rounds: 40.\n",
		"|  | **nib** | zerolog | logrus | slog | zap | phuslu | nib ÷ best |\n",
		"| message only | **50** | 100 | 1,235 (17) | – | – | – | 0.50× |\n",
		"| text to escape | **200** | – | – | – | 400 | 150\\* | 0.50× |\n",
		"| message only | **nib** | 97 | 171 | 567 | 22,655 |\n",
		"| off | 50,000 | 20.1 |\n| **nib** | 45,000 | 22.2 |\n",
		"- phuslu, Escapes: is not JSON",
		"theirs, from 1.05 up", "- error: slog 1.50×\n")
	mustContain(t, load(t, dir)[0].short(&set), "| message only | **50** | 100 | 1,235 (17) | – | 0.50× |\n",
		"| error | **90** | – | – | 60 | 1.50× |\n", "A(R) Processor, family 6, model 1")
	if text := load(t, dir)[1].full(&set); !strings.Contains(text, "linux/amd64, B, 2 CPUs, 2026-01-01") {
		t.Errorf("a processor without a model: %s", text)
	}
}

func TestRowsInWhichNoneIsFaster(t *testing.T) {
	set := bench.Set()
	r, err := Parse([]byte("BenchmarkError/nib 9 60.0 ns/op\nBenchmarkError/zap 9 62.0 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, r.full(&set), "None in any row.\n")
}

func TestRowsWithAPriceAreSortedByTheRatio(t *testing.T) {
	price := func(name string) measure.Scenario {
		return measure.Scenario{Name: name, Title: "a " + name, Price: "work of " + name,
			Versus: "price", Contestants: []measure.Contestant{{Name: own}, {Name: "price"}}}
	}
	rows := []measure.Scenario{price("low"), price("high")}
	s := measure.Set{Tables: []measure.Table{{Scenarios: rows}}}
	r := new(Results)
	for name, ns := range map[string]float64{"low": 90, "high": 250} {
		r.Add(name, own, 1, Value{Number: ns, Unit: UnitTime})
		r.Add(name, "price", 1, Value{Number: 100, Unit: UnitTime})
	}
	text := r.full(&s)
	mustContain(t, text, "|  | **nib** | price | nib ÷ price | the price is |\n"+
		"|---|---:|---:|---:|---|\n| a high | **250** | 100 | 2.50× | work of high |\n"+
		"| a low | **90** | 100 | 0.90× | work of low |\n")
	if strings.Contains(text, "faster") {
		t.Errorf("a price is no contestant: %s", text)
	}
}

func TestLoadReturnsTheNewestCodeFirst(t *testing.T) {
	dir := stored(t)
	calls := load(t, dir)
	if len(calls) != 2 || calls[0].Key != "a-1" || calls[1].Key != "b-2" {
		t.Errorf("got %+v; want a-1, and then b-2", calls)
	}
	if pools, err := Load(dir, "pools"); err != nil || len(pools) != 1 || pools[0].Key != "a-1" {
		t.Errorf("got %+v, %v; want a-1", pools, err)
	}
	if _, err := Load(dir, "codec"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
	if err := os.WriteFile(filepath.Join(dir, "b-2", "calls.txt"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, "calls"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want the damaged line", err)
	}
}

func TestRenderReplacesTheRegionOnly(t *testing.T) {
	d := Document{Path: "x.md", Set: "bench", text: func(*Results) string { return "new\n" }}
	for _, test := range []struct{ present, want string }{
		{"a\n<!-- bench:start -->\nold\n<!-- bench:end -->\nb\n", "a\n<!-- bench:start -->\nnew\n<!-- bench:end -->\nb\n"},
		{"<!-- bench:start --><!-- bench:end -->", "<!-- bench:start -->\nnew\n<!-- bench:end -->"},
		{"a <!-- bench:end -->", ""},
		{"a <!-- bench:start -->", ""},
	} {
		got, err := d.Render(nil, test.present)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q, %v, want %q", test.present, got, err, test.want)
		}
	}
}

// The Go code in docs/files.md must be in its tests, which compile and run it.
func TestCodeOfDocumentIsTested(t *testing.T) {
	document, err := os.ReadFile("../../docs/files.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the documents are not in the module, so its copy in a cache has none")
	}
	tests, err1 := os.ReadFile("../files/document_test.go")
	if err := errors.Join(err, err1); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(document), "```go\n")[1:]
	if len(blocks) < 10 {
		t.Errorf("%d blocks of Go code, want at least 10", len(blocks))
	}
	for _, b := range blocks {
		code, _, ok := strings.Cut(b, "```")
		if !ok || !strings.Contains(string(tests), code) {
			t.Errorf("not in the tests:\n%s", code)
		}
	}
}
