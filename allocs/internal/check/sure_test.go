// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
)

// module writes a module that consists of the files.
func module(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = "module example.com/m\n\ngo 1.24\n"
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// examine checks a module that consists of the files.
func examine(t *testing.T, o check.Options, files map[string]string) *findings.Document {
	t.Helper()
	o.Dir, o.Patterns = module(t, files), []string{"./..."}
	r, err := check.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return findings.New(r)
}

const sureSource = `package m

var (
	text  string
	bytes []byte
	named *[3]int
)

//alloc:none
func String(b []byte) { text = string(b) }

//alloc:none
func Concat(a, b string) { text = a + ": " + b }

//alloc:none
func ConcatNothing(a string) { text = a + "" }

//alloc:none
func Bytes(s string) { bytes = []byte(s) }

//alloc:none
func Returned(b []byte) string { return string(b) }

//alloc:none
func Local(b []byte) int { s := string(b) + "!"; return len(s) + int(s[0]) }

//alloc:none
func Compared(b []byte) bool { return string(b) == text }

//alloc:none
func New() *[3]int { return &[3]int{} }
`

// worst returns what the worst site of a root lacks, or its verdict.
func worst(r *findings.Root) string {
	w := r.Worst()
	return cmp.Or(string(w.Missing), string(w.Verdict))
}

func TestWhatAllocatesOnEveryPathFailsWithoutARun(t *testing.T) {
	want := map[string]string{
		"String": "any run", "Concat": "any run", "ConcatNothing": "size", "Bytes": "any run", "Returned": "any run", "Local": "size", "Compared": "none", "New": "any run",
	}
	bench := `package m

import "testing"

func BenchmarkSetUp(b *testing.B) {
	named = New()
	String(nil)
	for i := 0; i < b.N; i++ {
		named[0]++
	}
}
`
	for name, o := range map[string]check.Options{
		"without runs": {}, "with runs that execute it in their set-up": {Bench: regexp.MustCompile(".")},
	} {
		d := examine(t, o, map[string]string{"m.go": sureSource, "m_test.go": bench})
		for _, r := range d.Roots {
			f := strings.TrimPrefix(r.Func, "example.com/m.")
			if got := worst(r); got != want[f] {
				t.Errorf("%s: %s: got %s, want %s", name, f, got, want[f])
			}
		}
	}
}
