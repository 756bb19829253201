// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMirror(t *testing.T) {
	module, to := t.TempDir(), filepath.Join(t.TempDir(), "mirror")
	added := filepath.Join(t.TempDir(), "added.go")
	for name, text := range map[string]string{
		"go.mod":            "module m\n\nreplace (\n\ta => ../a\n\tb => ./b v1 \n\tc => c v1.0.0\n)\nreplace d => ..\n",
		"go.sum":            "sum\n",
		"m.go":              "package m\n",
		"sub/sub.go":        "package sub\n",
		"sub/testdata/x.go": "no Go\n",
		"nested/go.mod":     "module n\n",
		"nested/n.go":       "package n\n",
		".git/config":       "\n",
		"_old/old.go":       "package old\n",
	} {
		path := filepath.Join(module, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(added, []byte("package sub // added\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Mirror(module, to, map[string]string{filepath.Join(module, "sub", "added_test.go"): added}); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(to, path)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	})
	if want := "go.mod go.sum m.go sub/added_test.go sub/sub.go"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	text, err := os.ReadFile(filepath.Join(to, "go.mod"))
	parent := filepath.Dir(module)
	want := "module m\n\nreplace (\n\ta => " + parent + "/a\n\tb => " + module + "/b v1 \n\tc => c v1.0.0\n)\nreplace d => " + parent + "\n"
	if err != nil || string(text) != want {
		t.Errorf("go.mod: got %q, %v, want %q", text, err, want)
	}
	// Files that the go command writes must not reach the module.
	for _, name := range []string{"go.mod", "go.sum"} {
		if info, err := os.Lstat(filepath.Join(to, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: got %v, %v, want a file of its own", name, info, err)
		}
	}
	if _, err := os.Stat(filepath.Join(module, "sub", "added_test.go")); err == nil {
		t.Error("the added file is in the module")
	}
}

func TestOriginal(t *testing.T) {
	for file, want := range map[string]string{"/w/mirror/a.go": "/m/a.go", "/w/mirror": "/m", "/w/mirrors/a.go": "/w/mirrors/a.go", "/usr/x.go": "/usr/x.go"} {
		if got := Original(file, "/w/mirror", "/m"); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}
