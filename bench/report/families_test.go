// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// storedFamilies writes results of two processors: of A all sets at a later
// commit than those of B, which has no pools.
func storedFamilies(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	header := func(cpu, model, date string) string {
		return "go: go1.26.8\ncpu: " + cpu + "\ncpus: 2\n" + model + "date: " + date + "\ncommit: c-" + date +
			"\ncommitted: " + date + "T10:00:00Z\n\n"
	}
	a := header("A(R) Processor", "model: family 6, model 1\n", "2026-02-01")
	b := header("B", "", "2026-01-01")
	for path, text := range map[string]string{
		"a-1/calls.txt": a + "BenchmarkMessage/nib 9 50.0 ns/op 0.50 ratio\nBenchmarkMessage/zap 9 100.0 ns/op 1.00 ratio\n" +
			"BenchmarkError/nib 9 60.0 ns/op 0.90 ratio\n",
		"a-1/pools.txt": a + "BenchmarkBytes/nib 9 5.0 ns/op 0.70 ratio\n",
		"b-2/calls.txt": b + "BenchmarkMessage/nib 9 40.0 ns/op 0.60 ratio\nBenchmarkMessage/zap 9 66.0 ns/op 1.00 ratio\n" +
			"BenchmarkError/nib 9 30.0 ns/op 0.20 ratio\nBenchmarkCaller/nib 9 70.0 ns/op 0.30 ratio\n",
		"b-2/notes.md": "not results",
		"stray.txt":    "not of a family",
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

func TestLoadReturnsTheFamiliesThatHaveTheSetTheNewestCodeFirst(t *testing.T) {
	dir := storedFamilies(t)
	calls, err := Load(dir, Calls)
	if err != nil || len(calls) != 2 || calls[0].Key != "a-1" || calls[0].Older ||
		calls[1].Key != "b-2" || !calls[1].Older {
		t.Errorf("got %+v, %v; want a-1, and then b-2 as older", calls, err)
	}
	pools, err := Load(dir, Pools)
	if err != nil || len(pools) != 1 || pools[0].Key != "a-1" {
		t.Errorf("got %+v, %v; want a-1", pools, err)
	}
	if _, err := Load(dir, Codec); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

// A family is older than the code if any newer one was measured, even of
// another set and of another processor.
func TestAFamilyIsOlderThanTheNewestStoredRunOfAnySet(t *testing.T) {
	dir := storedFamilies(t)
	if err := os.Remove(filepath.Join(dir, "a-1", "calls.txt")); err != nil {
		t.Fatal(err)
	}
	calls, err := Load(dir, Calls)
	if err != nil || len(calls) != 1 || !calls[0].Older {
		t.Errorf("got %+v, %v; want b-2, older than the pools of a-1", calls, err)
	}
}

func TestLoadRefusesDamagedResults(t *testing.T) {
	dir := storedFamilies(t)
	if err := os.WriteFile(filepath.Join(dir, "b-2", "calls.txt"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, Calls); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want the damaged line", err)
	}
}

func TestWorstRatioOfTheProcessors(t *testing.T) {
	families, err := Load(storedFamilies(t), Calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ scenario, want string }{
		{"Message", "0.60× (B)"}, // the older family's is worse
		{"Error", "0.90×"},       // that of the family whose times are shown
		{"Caller", "0.30× (B)"},  // measured on one only
		{"TenFields", "–"},       // on none
	} {
		if got := families.worstCell(test.scenario); got != test.want {
			t.Errorf("%s: got %s, want %s", test.scenario, got, test.want)
		}
	}
	short := families.Short()
	for _, want := range []string{
		"| message only | **50** | – | 100 | – | – | – | 0.60× (B) |\n",
		"on the processor on which this ratio is worse. A dash",
		"- **A**: family 6, model 1; 2 CPUs; measured on 2026-02-01 at commit c-2026-02-01.\n" +
			"- **B**: the model was not recorded; 2 CPUs; measured on 2026-01-01 at commit c-2026-01-01, **older than the code**.\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in\n%s", want, short)
		}
	}
}

func TestProcessorsSideBySide(t *testing.T) {
	dir := storedFamilies(t)
	families, err := Load(dir, Calls)
	if err != nil {
		t.Fatal(err)
	}
	got := families.Processors(title)
	for _, want := range []string{
		"|  | A, ns | ratio | B, ns | ratio |\n",
		"| message only | 50 | 0.50× | 40 | 0.60× |\n",
		"| error | 60 | 0.90× | 30 | 0.20× |\n",
		"| caller | – | – | 70 | 0.30× |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	pools, err := Load(dir, Pools)
	if err != nil {
		t.Fatal(err)
	}
	if got := pools.Processors(poolTitle); strings.Contains(got, "|") || !strings.HasPrefix(got, "- **A**") {
		t.Errorf("got %q, want the processor and no table", got)
	}
}

func TestProcessorsOfOneNameAreShownWithTheirModel(t *testing.T) {
	dir := storedFamilies(t)
	for path, stepping := range map[string]string{"a-1/calls.txt": "", "b-2/calls.txt": ", stepping 3 (newer)"} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), "cpus:")
		text := "cpu: A(R) Processor\nmodel: family 6, model " + filepath.Base(filepath.Dir(path))[2:] + stepping + "\ncpus:" + strings.ReplaceAll(rest, "model: family 6, model 1\n", "")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	families, err := Load(dir, Calls)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := families.Processors(title), "|  | A model 1, ns | ratio | A model 2, ns | ratio |\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got, want := families.worstCell("Message"), "0.60× (A model 2)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Every directory of stored results is that of a model, and names the measured
// code.
func TestStoredResultsNameTheirCommit(t *testing.T) {
	files, err := filepath.Glob("../results/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v; want stored results", files, err)
	}
	for _, path := range files {
		r, err := loadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"cpu", "cpus", "date", "commit", "committed"} {
			if len(r.Head(key)) != 1 {
				t.Errorf("%s: %d values of %s, want 1", path, len(r.Head(key)), key)
			}
		}
	}
}
