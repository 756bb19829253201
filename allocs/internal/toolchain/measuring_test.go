// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/allocs/internal/must"
)

func TestMinor(t *testing.T) {
	for version, want := range map[string]int{
		"go1.13.15": 13, "go1.16": 16, "go1.27rc1": 27, "devel go1.28-abcdef": 1 << 20,
	} {
		if got := minor(version); got != want {
			t.Errorf("%s: got %d, want %d", version, got, want)
		}
	}
}

func TestKeptFlags(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                  "-buildvcs=false -pgo=off",
		"-race -tags=x":                     "-buildvcs=false -pgo=off -tags=x",
		"--tags=x --race --modfile=m.mod":   "-buildvcs=false -pgo=off --tags=x --modfile=m.mod",
		"-mod=vendor":                       "-buildvcs=false -pgo=off -mod=vendor",
		`'-tags=x y' '-gcflags=-N' -tags=z`: `-buildvcs=false -pgo=off '-tags=x y' -tags=z`,
	} {
		if got := keptFlags(flags); got != want {
			t.Errorf("%q: got %q, want %q", flags, got, want)
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

// The go command also takes flags from the file that go env -w writes.
func TestKeptFlagsOfTheSettingsFile(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	settings := filepath.Join(t.TempDir(), "env")
	must.Succeed(t, os.WriteFile(settings, []byte("GOFLAGS=-tags=special -race\n"), 0o644))
	t.Setenv("GOENV", settings)
	for flags, want := range map[string]string{"": "-tags=special", "-tags=other": "-tags=other"} {
		t.Setenv("GOFLAGS", flags)
		tc, err := Find(t.Context(), t.TempDir(), "")
		must.Succeed(t, err)
		out, err := tc.Go(t.Context(), t.TempDir(), "env", "GOFLAGS")
		want = "-buildvcs=false -pgo=off " + want
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("GOFLAGS=%q: got %q, %v, want %q", flags, got, err, want)
		}
	}
}
