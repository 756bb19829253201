// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The list of a program has the modules of the program: here, of this test.
func TestSBOM(t *testing.T) {
	to := filepath.Join(t.TempDir(), "bom.json")
	pages, err := pagePackages("../../cmd/nib")
	if err != nil {
		t.Fatal(err)
	}
	if err := sbom(os.Args[0], to, pages); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range *bom.Components {
		versions[c.Name] = c.Version
	}
	if versions["std"] != runtime.Version() || versions["golang.org/x/mod"] == "" || versions["github.com/CycloneDX/cyclonedx-go"] == "" || versions["svelte"] == "" {
		t.Errorf("got %v", versions)
	}
	if deps := *bom.Dependencies; len(deps) != 1 || len(*deps[0].Dependencies) != len(versions) {
		t.Errorf("got %+v, want all of %v", deps, versions)
	}
}

// Each binary has another list: modules that one system needs, such as
// mousetrap on Windows, are not in the others.
func TestSBOMOfEachBinary(t *testing.T) {
	dist := t.TempDir()
	u := &user{staged: &staged{repository: &repository{dir: t.TempDir()}, version: "v0.1.0"}}
	for _, target := range targets {
		for _, folder := range installed {
			if err := os.Symlink(os.Args[0], filepath.Join(dist, binaryName(folder, u.version, target))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := u.sboms(dist); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nib_v0.1.0_windows_amd64.cdx.json", "allocs_v0.1.0_linux_arm64.cdx.json"} {
		if !isFile(filepath.Join(dist, name)) {
			t.Errorf("there is no %s", name)
		}
	}
}
