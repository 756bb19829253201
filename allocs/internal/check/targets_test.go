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
	source := func(system string) string {
		return fmt.Sprintf("package m\n\n//alloc:none\nfunc System() { kept = &[9]int{} }\n\n//alloc:none\nfunc Only_%s() { kept = new([2]int) }\n", system)
	}
	dir := module(t, map[string]string{
		"m.go":         "package m\n\nvar kept any\n\n//alloc:none\nfunc Clean(n int) int { return n + 1 }\n\n//alloc:none\nfunc Boxes(s string) { kept = s }\n",
		"m_linux.go":   source("linux"),
		"m_darwin.go":  source("darwin"),
		"m_windows.go": source("windows"),
	})
	// The executables that package binary is tested with are for the same targets.
	targets := []string{"linux/amd64", "darwin/arm64", "windows/386"}
	r, err := check.Run(context.Background(), check.Options{
		Dir: dir, Patterns: []string{"./..."}, Arch: targets, Bench: regexp.MustCompile("."),
		Cache: filepath.Join(os.TempDir(), "nib-allocs-test", "cache", "nib-allocs"),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := findings.New(r)
	for i, tc := range d.Toolchains {
		name, wants := r.Toolchains[i].Toolchain.Version, []string{"no code, so no verdict, for example.com/m.Only_"}
		if !r.Toolchains[i].Toolchain.Native() {
			name += " " + targets[i]
			wants = append(wants, "nothing was run: programs for "+targets[i]+" do not run here")
		}
		if tc.Name != name {
			t.Errorf("got toolchain %q, want %q", tc.Name, name)
		}
		trouble := strings.Join(tc.Trouble, "\n")
		for _, want := range wants {
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
	targets := []string{"plan10/amd64", "linux/amd65"}
	if os.Getenv("NIB_E2E") != "" { // it compiles the runtime to find that its executables cannot be read
		targets = append(targets, "js/wasm")
	}
	dir := module(t, map[string]string{"m.go": "package m\n\n//alloc:none\nfunc F() {}\n"})
	for _, target := range targets {
		o := check.Options{Dir: dir, Patterns: []string{"./..."}, Arch: []string{target}}
		_, err := check.Run(context.Background(), o)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want an error", target, err)
		}
	}
}
