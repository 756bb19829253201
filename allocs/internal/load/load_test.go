// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Packages that import each other do not build; the others do.
func TestListLeavesOutACycle(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"a/a.go": "package a\n\nimport _ \"example.com/m/b\"\n",
		"b/b.go": "package b\n\nimport _ \"example.com/m/a\"\n",
		"c/c.go": "package c\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
	}
	tc, err := toolchain.Find(t.Context(), dir, "")
	must.Succeed(t, err)
	intact, broken, err := load.List(t.Context(), tc, dir, []string{"./..."})
	must.Succeed(t, err)
	if len(intact) != 1 || intact[0].ImportPath != "example.com/m/c" {
		t.Errorf("got %v, want only c", intact)
	}
	if len(broken) != 2 || broken["example.com/m/a"] == "" || broken["example.com/m/b"] == "" {
		t.Errorf("got %q, want reasons for a and b", broken)
	}
}

// With -trimpath, the go command would compile what the module imports once
// more, for no other build of a check.
func TestTypedDoesNotTrimPaths(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("left out of short mode, as it runs the go command, by a shell")
	}
	dir, bin := t.TempDir(), t.TempDir()
	goCommand, err := exec.LookPath("go")
	must.Succeed(t, err)
	log := filepath.Join(bin, "log")
	script := "#!/bin/sh\necho \"$GOFLAGS\" >>'" + log + "'\nexec '" + goCommand + "' \"$@\"\n"
	for name, text := range map[string]string{
		filepath.Join(dir, "go.mod"): "module example.com/m\n\ngo 1.24\n",
		filepath.Join(dir, "m.go"):   "package m\n",
		filepath.Join(bin, "go"):     script,
	} {
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o755))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for flags, want := range map[string]string{
		"-tags=x -trimpath": "-tags=x -trimpath -trimpath=false",
		"-tags=x":           "-tags=x",
	} {
		t.Setenv("GOFLAGS", flags)
		if _, err := load.Typed(t.Context(), dir, []string{"."}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(log)
		must.Succeed(t, err)
		for _, got := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			if got != want {
				t.Errorf("GOFLAGS=%s: a go command has %s, want %s", flags, got, want)
			}
		}
		os.Remove(log)
	}
}
