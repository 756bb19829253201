// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
)

// Each module that "go version -m" lists for a binary has its license text in
// the archive; the binary here is this test.
func TestArchiveHasTheLicenseOfEachModule(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	place := strings.Fields(string(out))
	files, err := licenses(os.Args[0], place[0], place[1])
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 {
		t.Fatal("this test has no modules to look for")
	}
	for _, target := range []string{"linux/amd64", "windows/amd64"} {
		got := unpack(t, pack(t, target, files))
		for _, m := range info.Deps {
			if text := got["licenses/"+m.Path+"@"+m.Version+"/LICENSE"]; !strings.Contains(text, "opyright") && !strings.Contains(text, "Apache License") {
				t.Errorf("%s: %s@%s: got %q, want its license", target, m.Path, m.Version, text)
			}
		}
		if text := got["licenses/"+info.GoVersion+"/LICENSE"]; !strings.Contains(text, "The Go Authors") {
			t.Errorf("%s: got %q, want the license of Go", target, text)
		}
	}
}

// The page of nib view has packages of npm in it.
func TestArchiveHasTheLicensesOfPages(t *testing.T) {
	files, err := pageLicenses("../../cmd/nib")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range files {
		found = found || strings.HasPrefix(f.name, "licenses/npm/svelte@") && strings.HasSuffix(f.name, "/LICENSE") && strings.Contains(string(f.text), "Svelte Contributors")
	}
	if !found {
		t.Errorf("got %v, want the license of svelte", files)
	}
}

// pack returns the name of an archive of files.
func pack(t *testing.T, target string, files []member) string {
	t.Helper()
	dir := t.TempDir()
	if err := archive(filepath.Join(dir, "a"), target, files); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v, want one archive", entries, err)
	}
	return filepath.Join(dir, entries[0].Name())
}

// unpack returns the texts of the files in an archive, by name.
func unpack(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	add := func(name string, r io.Reader, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			add(f.Name, r, err)
		}
		return files
	}
	g, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(g)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		add(h.Name, r, err)
	}
}

func TestArchiveKeepsModesAndNames(t *testing.T) {
	files := []member{{"nib", 0o755, []byte("binary")}, {"licenses/x@v1/LICENSE", 0o644, []byte("text")}}
	for target, suffix := range map[string]string{"linux/amd64": ".tar.gz", "windows/amd64": ".zip"} {
		name := pack(t, target, files)
		if got := unpack(t, name); !strings.HasSuffix(name, suffix) || got["nib"] != "binary" || got["licenses/x@v1/LICENSE"] != "text" || len(got) != 2 {
			t.Errorf("%s: got %s with %q", target, name, got)
		}
		a, errA := os.ReadFile(name)
		b, errB := os.ReadFile(pack(t, target, files))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: packed twice, the archives differ (%v, %v)", target, errA, errB)
		}
	}
}

// Texts of code that a module has copied into a folder count, too; code and
// test data with such names do not.
func TestLicensesBelow(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE.md", "notice.go", "sub/COPYING", "testdata/LICENSE", "main.go", "s/UNLICENSE", "NOTICE", "LICENCE-MIT"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := licensesBelow(dir)
	var got []string
	for _, f := range list {
		got = append(got, f.name)
	}
	want := []string{"LICENCE-MIT", "LICENSE.md", "NOTICE", "s/UNLICENSE", "sub/COPYING"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestLicensesOfAModuleWithoutOne(t *testing.T) {
	goroot := t.TempDir()
	if err := os.WriteFile(filepath.Join(goroot, "LICENSE"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, m := range info.Deps {
		escaped, err := module.EscapePath(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(cache, escaped+"@"+m.Version), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := licenses(os.Args[0], cache, goroot); err == nil || !strings.Contains(err.Error(), "has no license file") {
		t.Errorf("got %v, want an error that names the module", err)
	}
}
