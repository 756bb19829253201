// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGenerateWritesWhatCheckThenAccepts(t *testing.T) {
	root, results := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	readme := filepath.Join(root, "README.md")
	write(filepath.Join(results, "a-cpu", "calls.txt"), "go: go1.26.8\n\nBenchmarkMessage/nib 9 50.0 ns/op 0.50 ratio\n")
	write(readme, "before\n<!-- bench:start -->\n<!-- bench:end -->\nafter\n")
	write(filepath.Join(root, "docs", "benchmarks.md"), "<!-- bench:start -->\n<!-- bench:end -->\n")

	if err := generate(results, root, true); err == nil {
		t.Error("documents without tables pass the check")
	}
	if err := generate(results, root, false); err != nil {
		t.Fatal(err)
	}
	if err := generate(results, root, true); err != nil {
		t.Errorf("what was just written fails the check: %v", err)
	}
	got, err := os.ReadFile(readme)
	if err != nil || !strings.HasPrefix(string(got), "before\n") || !strings.HasSuffix(string(got), "\nafter\n") ||
		!strings.Contains(string(got), "| message only | **50** |") {
		t.Errorf("%v, README:\n%s", err, got)
	}
	write(filepath.Join(results, "a-cpu", "calls.txt"), "go: go1.26.8\n\nBenchmarkMessage/nib 9 51.0 ns/op 0.50 ratio\n")
	if err := generate(results, root, true); err == nil || strings.Count(err.Error(), "out of date") != 3 {
		t.Errorf("got %v, want three documents out of date", err)
	}
}

func TestGenerateNeedsMarkers(t *testing.T) {
	root, results := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(results, "a-cpu"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(results, "a-cpu", "calls.txt"): "", filepath.Join(root, "README.md"): "none"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := generate(results, root, false); err == nil || !strings.Contains(err.Error(), "bench:start") {
		t.Errorf("got %v, want the missing marker", err)
	}
}
