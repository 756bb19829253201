// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/analysis/internal/ruletest"
	"github.com/nib-log/nib/allocs/analysis/rewrite"
)

func TestRewrites(t *testing.T) {
	ruletest.Run(t, rewrite.Analyzers)
}

// Both forms of every package in testdata have the same results: a program runs
// Try of each.
func TestBehaviourStays(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.24\n"))
	var imports, calls strings.Builder
	for i, a := range rewrite.Analyzers {
		src := filepath.Join("testdata", "src", a.Name, a.Name+".go")
		for _, form := range []struct{ name, file string }{{"before", src}, {"after", src + ".golden"}} {
			text, err := os.ReadFile(form.file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, form.name, a.Name, "x.go"), text)
			fmt.Fprintf(&imports, "import %s%d \"m/%s/%s\"\n", form.name, i, form.name, a.Name)
		}
		fmt.Fprintf(&calls, "\tsame(%q, before%d.Try(), after%d.Try())\n", a.Name, i, i)
	}
	write(t, filepath.Join(dir, "main.go"), []byte("package main\n\nimport \"fmt\"\n"+imports.String()+`
func same(name, before, after string) {
	if before == "" || before != after {
		fmt.Printf("%s: got  %q\nwant %q\n", name, after, before)
	}
}

func main() {
`+calls.String()+"}\n"))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("got %v\n%s", err, out)
	}
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
