// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/must"
)

// A module with a directory vendor is asked about a release that is not
// installed.
func TestReleasesOfAVendoredModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module m\n\ngo 1.21\n\nrequire example.com/d v1.0.0\n",
		"vendor/modules.txt": "# example.com/d v1.0.0\n## explicit\n",
		"proxy/golang.org/toolchain/@v/list": "v0.0.1-go1.24.1.linux-amd64\nv0.0.1-go1.24.2.linux-amd64\n" +
			"v0.0.1-go1.20.3.linux-amd64\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(filepath.Join(dir, "proxy")))
	t.Setenv("GOMODCACHE", filepath.Join(dir, "cache"))
	t.Setenv("GOTOOLCHAIN", "local")
	t.Setenv("GOFLAGS", "-modcacherw")
	for line, want := range map[string]string{"1.24": "go1.24.2"} {
		if got, err := resolve(t.Context(), dir, line); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, want)
		}
	}
}

func TestOtherTargetsAreAnError(t *testing.T) {
	t.Setenv("GOOS", "plan9")
	if tc, err := Find(t.Context(), t.TempDir(), ""); !errors.Is(err, ErrRelease) {
		t.Errorf("got %v, %v, want %v", tc, err, ErrRelease)
	}
}

// The error has what the go command says about a release, and not the command.
func TestReleaseThatIsNone(t *testing.T) {
	_, err := Find(t.Context(), t.TempDir(), "none")
	if !errors.Is(err, ErrRelease) {
		t.Fatalf("got %v, want %v", err, ErrRelease)
	}
	if text := err.Error(); strings.Contains(text, "go env") || !strings.Contains(text, "gonone") {
		t.Errorf("got %q, want what the go command says about gonone", text)
	}
}
