// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMinor(t *testing.T) {
	for _, c := range []struct {
		version                          string
		minor                            int
		executables, overlay, listFields bool
	}{
		{"go1.13.15", 13, false, false, false},
		{"go1.16", 16, false, false, false},
		{"go1.18.10", 18, false, true, false},
		{"go1.19.13", 19, false, true, true},
		{"go1.20.14", 20, true, true, true},
		{"go1.27rc1", 27, true, true, true},
		{"devel go1.28-abcdef", 1 << 20, true, true, true},
	} {
		tc := &Toolchain{Version: c.version}
		if tc.Minor() != c.minor || tc.Executables() != c.executables || tc.Overlay() != c.overlay || tc.ListFields() != c.listFields {
			t.Errorf("%s: got %d %v %v %v, want %d %v %v %v", c.version, tc.Minor(), tc.Executables(), tc.Overlay(), tc.ListFields(),
				c.minor, c.executables, c.overlay, c.listFields)
		}
	}
}

func TestKeptFlags(t *testing.T) {
	for _, c := range []struct{ version, mod, flags, want string }{
		{"go1.27.4", "", "-race -tags=x", "-buildvcs=false -tags=x"},
		{"go1.17.13", "", "-buildvcs=false -tags=x", "-tags=x"},
		{"go1.17.13", "", "--tags=x --race --modfile=m.mod", "--tags=x --modfile=m.mod"},
		{"go1.17.13", "", `'-tags=x y' "-modfile=my dir/m.mod" '-gcflags=-N -l' -tags=z`, `'-tags=x y' "-modfile=my dir/m.mod" -tags=z`},
		{"go1.13.15", "-mod=readonly", "", "-mod=readonly"},
		{"go1.13.15", "-mod=readonly", "-mod=vendor", "-mod=vendor"},
	} {
		if got := (&Toolchain{Version: c.version, mod: c.mod}).keptFlags(c.flags); got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.version, c.flags, got, c.want)
		}
	}
}

// Runs that begin at the same time make the same link.
func TestRootsAreMovedByRunsAtOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	for i := range 50 {
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 8 {
			all.Go(func() {
				tc := &Toolchain{Version: fmt.Sprintf("go1.24.%d", i), GOROOT: root}
				<-begin
				if err := tc.moveRoot(); err != nil {
					t.Error(err)
				} else if _, err := os.Stat(tc.GOROOT); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
	}
}

// TestOldReleases builds a program with each old release that has a trap, and
// sees that nothing is written to the module.
func TestOldReleases(t *testing.T) {
	if os.Getenv("NIB_E2E") != "full" {
		t.Skip("NIB_E2E is not full: it fetches Go releases of 400 MB each")
	}
	dir := t.TempDir()
	mod := "module example.com/m\n\ngo 1.13\n"
	for name, text := range map[string]string{"go.mod": mod, "m.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	for _, line := range []string{"1.13", "1.16", "1.17", "1.18", "1.19", "1.20"} {
		tc, err := Find(ctx, dir, line, "")
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !strings.HasPrefix(tc.Version, "go"+line+".") {
			t.Errorf("%s: got %s, want the newest of the line", line, tc.Version)
		}
		out, err := tc.Go(ctx, dir, "version")
		if err != nil || !strings.Contains(string(out), tc.Version+" ") {
			t.Errorf("%s: got %q, %v, want %s", line, out, err, tc.Version)
		}
		if _, err := tc.Go(ctx, dir, "build", "-o", filepath.Join(t.TempDir(), "m"), "."); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(got) != mod {
			t.Errorf("%s: go.mod is %q, %v, want it as it was", line, got, err)
		}
	}
}

// The go command also takes flags from the file that go env -w writes.
func TestKeptFlagsOfTheSettingsFile(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	settings := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(settings, []byte("GOFLAGS=-tags=special -race\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", settings)
	for flags, want := range map[string]string{"": "-tags=special", "-tags=other": "-tags=other"} {
		t.Setenv("GOFLAGS", flags)
		tc, err := Find(t.Context(), t.TempDir(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		out, err := tc.Go(t.Context(), t.TempDir(), "env", "GOFLAGS")
		if got := strings.TrimSpace(string(out)); err != nil || got != "-buildvcs=false "+want {
			t.Errorf("GOFLAGS=%q: got %q, %v, want %q", flags, got, err, want)
		}
	}
}
