// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The list of a program has what the program is made of: here, of this test.
func TestSBOM(t *testing.T) {
	to := filepath.Join(t.TempDir(), "bom.json")
	if err := sbom(os.Args[0], to); err != nil {
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
	if versions["std"] != runtime.Version() || versions["golang.org/x/mod"] == "" || versions["github.com/CycloneDX/cyclonedx-go"] == "" {
		t.Errorf("got %v", versions)
	}
	if deps := *bom.Dependencies; len(deps) != 1 || len(*deps[0].Dependencies) != len(versions) {
		t.Errorf("got %+v, want all of %v", deps, versions)
	}
}
