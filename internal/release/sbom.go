// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes the modules of a program, as recorded in its binary, in the
// CycloneDX format. It has no time and no serial number, so that it is the same
// for the same binary. pages are the npm packages of its pages.
func sbom(binary, to string, pages []string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	main := component(&info.Main, cdx.ComponentTypeApplication)
	main.Name = info.Path
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	list := []cdx.Component{{
		BOMRef: "pkg:golang/std@" + info.GoVersion, Type: cdx.ComponentTypeLibrary,
		Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + info.GoVersion,
	}}
	below := []string{list[0].BOMRef}
	for _, m := range info.Deps {
		c := component(m, cdx.ComponentTypeLibrary)
		list, below = append(list, c), append(below, c.BOMRef)
	}
	for _, dir := range pages {
		name, version, _ := strings.Cut(filepath.Base(dir), "@")
		url := "pkg:npm/" + name + "@" + version
		list = append(list, cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: url})
		below = append(below, url)
	}
	bom.Components = &list
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &below}}
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom), w.Close())
}

func component(m *debug.Module, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
	if m.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}

// sboms writes an SBOM for each binary: programs have modules that only one
// system needs.
func (u *user) sboms(dist string) error {
	for _, folder := range installed {
		pages, err := pagePackages(filepath.Join(u.dir, folder))
		if err != nil {
			return err
		}
		for _, target := range targets {
			binary := filepath.Join(dist, binaryName(folder, u.version, target))
			if err := sbom(binary, strings.TrimSuffix(binary, ".exe")+".cdx.json", pages); err != nil {
				return err
			}
		}
	}
	return nil
}
