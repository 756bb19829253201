// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// namesakes writes a module with packages of the same name.
func namesakes(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	files := map[string]string{"go.mod": "module example.com/m/v3\n\ngo 1.24\n", "none/none.go": "package none\n"}
	for name, at := range map[string]string{"m": "", "x": "a/x/", "y": "b/x/", "z": "x/v2/", "v1": "v1/", "main": "cmd/m/"} {
		files[at+"p.go"] = "package " + name + "\n"
		if name == "main" {
			files[at+"p.go"] += "\nfunc main() {}\n"
		}
		files[at+"p_test.go"] = "package " + name + "\n\nimport \"testing\"\n\nvar kept *[2]int\n\nfunc BenchmarkX(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tkept = &[2]int{i}\n\t}\n}\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// The go command names test binaries by the last element of the import path,
// or by the element before it if the last one is a version.
func TestPackagesAreBuiltTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir := namesakes(t)
	for _, release := range releases() {
		tc, err := toolchain.Find(t.Context(), dir, release)
		must.Succeed(t, err)
		pkgs, _, err := load.List(t.Context(), tc, dir, []string{"./..."})
		must.Succeed(t, err)
		all, err := BuildAll(t.Context(), tc, pkgs, quick, dir, t.TempDir())
		must.Succeed(t, err)
		got := map[string]float64{}
		for _, b := range all {
			results, err := b.Run(t.Context(), quick)
			if err != nil || len(results) != 1 {
				t.Fatalf("%s: got %v, %v", b.Package.ImportPath, results, err)
			}
			got[b.Package.ImportPath] = results[0].PerOp
		}
		for _, path := range []string{"", "/a/x", "/b/x", "/x/v2", "/v1", "/cmd/m"} {
			if n, ok := got["example.com/m/v3"+path]; !ok || n != 1 {
				t.Errorf("%s example.com/m/v3%s: got %v, %v, want 1", release, path, n, ok)
			}
		}
		if len(got) != 6 {
			t.Errorf("%s: got %v, want six packages", release, got)
		}
	}
}
