// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
)

// TestTargets looks at one module on three systems: functions that all have get
// the same verdict, others get it where they are, and the report states that
// nothing was run.
func TestTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := func(system string) string {
		return fmt.Sprintf("package m\n\n//alloc:none\nfunc System() { kept = &[9]int{} }\n\n//alloc:none\nfunc Only_%s() { kept = new([2]int) }\n", system)
	}
	for file, text := range map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.24\n",
		"m.go":         "package m\n\nvar kept any\n\n//alloc:none\nfunc Clean(n int) int { return n + 1 }\n\n//alloc:none\nfunc Boxes(s string) { kept = s }\n",
		"m_linux.go":   name("linux"),
		"m_darwin.go":  name("darwin"),
		"m_windows.go": name("windows"),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	targets := []string{"linux/arm64", "darwin/arm64", "windows/amd64"}
	r, err := check.Run(context.Background(), check.Options{
		Dir: dir, Patterns: []string{"./..."}, Arch: targets, Bench: regexp.MustCompile("."),
		Cache: filepath.Join(os.TempDir(), "nib-allocs-test", "cache", "nib-allocs"),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := findings.New(r)
	for i, tc := range d.Toolchains {
		if tc.Name != r.Toolchains[i].Toolchain.Version+" "+targets[i] {
			t.Errorf("got toolchain %q, want that of %s", tc.Name, targets[i])
		}
		trouble := strings.Join(tc.Trouble, "\n")
		for _, want := range []string{"nothing was run: programs for " + targets[i] + " do not run here", "no code, so no verdict, for example.com/m.Only_"} {
			if !strings.Contains(trouble, want) {
				t.Errorf("%s: got trouble %q, want %q in it", tc.Name, trouble, want)
			}
		}
	}
	got := map[string]string{}
	for _, root := range d.Roots {
		got[strings.TrimPrefix(root.ID, "example.com/m.")] = strings.Join(root.Verdicts, " ")
	}
	want := map[string]string{
		"Clean": "none none none", "Boxes": "always always always", "System": "always always always",
		"Only_linux": "always absent absent", "Only_darwin": "absent always absent", "Only_windows": "absent absent always",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTargetThatIsNotThere(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	for _, target := range []string{"plan10/amd64", "linux/amd65", "js/wasm"} {
		_, err := check.Run(context.Background(), check.Options{Dir: sampleDir(t), Patterns: []string{"./..."}, Arch: []string{target}})
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want an error", target, err)
		}
	}
}
