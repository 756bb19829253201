// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/must"
)

// reading has a benchmark that reads files and a variable.
const reading = `package m

import (
	"os"
	"testing"
)

var bytes []byte

func BenchmarkReads(b *testing.B) {
	text, _ := os.ReadFile("size")
	os.ReadFile(os.Getenv("ELSEWHERE"))
	if len(text) == 1 {
		b.Fatal("no size")
	}
	if len(text) == 2 {
		os.Chdir("/")
	}
	for i := 0; i < b.N; i++ {
		bytes = make([]byte, 100+None(len(text)))
	}
}
`

// TestKeptResultsHoldForTheSameInputs keeps results, and changes what the
// benchmark reads: a variable, a file of the module, and a file elsewhere,
// which counts as little as for go test.
func TestKeptResultsHoldForTheSameInputs(t *testing.T) {
	o := quick
	o.Budget = 20 * time.Millisecond
	b, dir := build(t, "", o, reading)
	cache, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	t.Setenv("ELSEWHERE", elsewhere)
	write := func(name, text string) {
		t.Helper()
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	}
	paths, dirs := []string{b.Package.ImportPath}, []string{b.Package.Dir}
	place := b.Place(cache, o, paths)
	keep := func() {
		t.Helper()
		results := run(t, b, o)
		visits, err := b.Visit(t.Context(), o, results, paths, dirs)
		must.Succeed(t, err)
		b.Keep(place, results, visits)
	}
	isKept := func(what string, want bool) Kept {
		t.Helper()
		k, ok := b.Load(place)
		if ok != want {
			t.Fatalf("%s: are the results kept: got %v, want %v", what, ok, want)
		}
		return k
	}
	size := filepath.Join(dir, "size")
	isKept("before", false)
	keep()
	k := isKept("at once", true)
	if len(k.Results) != 1 || k.Results[0].PerOp != 2 || len(k.Visited) == 0 ||
		k.Results[0].Package != b.Package.ImportPath {
		t.Errorf("got %v a call, %+v", k.Results[0].PerOp, k.Visited)
	}
	write(elsewhere, "a")
	isKept("a file elsewhere", true)
	write(size, "size")
	isKept("a file that is new", false)
	keep()
	isKept("a file that is there", true)
	write(size, "sizes")
	isKept("a file that has changed", false)
	keep()
	t.Setenv("ELSEWHERE", "")
	isKept("a variable that has changed", false)
	write(size, "1")
	keep()
	isKept("a benchmark that fails", false)
	write(size, "22")
	keep()
	isKept("another directory", false)
	if b.Place("", o, paths) != "" || b.Place(cache, Options{}, paths) == place {
		t.Error("the place does not depend on the options")
	}
}
