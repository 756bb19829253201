// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A build of the sources equals the committed one, byte for byte.
func TestE2ETheBuildIsReproducible(t *testing.T) {
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("NIB_E2E is not set: it installs what builds the page")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm here")
	}
	const page = "../../cmd/nib/view/page"
	dir := t.TempDir()
	if err := os.CopyFS(dir, sources{os.DirFS(page)}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ci", "--no-audit", "--no-fund"}, {"run", "build"}} {
		cmd := exec.Command("npm", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			if args[0] == "ci" {
				t.Skipf("npm ci: %v (the registry cannot be reached?)\n%s", err, out)
			}
			t.Fatalf("npm %v: %v\n%s", args, err, out)
		}
	}
	got, want := files(t, filepath.Join(dir, "dist")), files(t, filepath.Join(page, "dist"))
	if len(got) != len(want) {
		t.Errorf("got %d files, want %d", len(got), len(want))
	}
	for name, text := range want {
		if !bytes.Equal(got[name], text) {
			t.Errorf("%s differs from what npm run build makes of the sources", name)
		}
	}
}

// sources leaves out installed and built files.
type sources struct{ fs.FS }

func (s sources) ReadDir(name string) (list []fs.DirEntry, err error) {
	all, err := fs.ReadDir(s.FS, name)
	for _, e := range all {
		if e.Name() != "node_modules" && e.Name() != "dist" {
			list = append(list, e)
		}
	}
	return list, err
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
