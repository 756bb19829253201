// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Build is a set of executables that together hold every function of the
// packages.
type Build struct {
	Overlay     string   // file for go build -overlay
	Targets     []string // packages to build: the main package of each module in the overlay, and the module's own
	Executables []string
}

// Prepare writes the overlay for the packages below work.
func Prepare(pkgs []*load.Package, work string) (*Build, error) {
	replace := map[string]string{}
	add := func(path, text string) error {
		sum := sha256.Sum256([]byte(path + "\x00" + text))
		to := filepath.Join(work, "overlay-"+hex.EncodeToString(sum[:8])+".go")
		replace[path] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	b := &Build{}
	relays := map[load.Module]map[relay][]string{} // the imports of each relay
	for _, p := range pkgs {
		if !p.Main() {
			continue
		}
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue // nothing but tests: there is no program to build
		}
		text := keepFile(p)
		if p.Name == "main" {
			b.Targets = append(b.Targets, p.ImportPath)
			text += "\nfunc init() {\n\tfor _, f := range " + keepName(p.ImportPath) + " {\n\t\tif f == nil {\n\t\t\tpanic(f)\n\t\t}\n\t}\n}\n"
		} else {
			m, at := load.Module{Path: p.Module.Path, Dir: p.Module.Dir}, importer(p)
			if relays[m] == nil {
				relays[m] = map[relay][]string{}
			}
			relays[m][at] = append(relays[m][at], p.ImportPath)
		}
		if err := add(filepath.Join(p.Dir, "allocs_keeps_these.go"), text); err != nil {
			return nil, err
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(relays), func(a, b load.Module) int { return strings.Compare(a.Path, b.Path) }) {
		if err := addMain(m, relays[m], add); err != nil {
			return nil, err
		}
		b.Targets = append(b.Targets, m.Path+"/"+mainDir)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	b.Overlay = filepath.Join(work, "overlay.json")
	return b, os.WriteFile(b.Overlay, text, 0o644)
}

// Names of the directories that exist only in the overlay.
const (
	mainDir  = "allocs_holds_all"
	relayDir = "allocs_relays"
)

// relay is a package that imports packages which only it may import.
type relay struct{ path, dir string }

// importer returns the place that a package must be imported from: a package
// below a directory "internal" may only be imported from the tree that holds
// it.
func importer(p *load.Package) relay {
	rest := strings.TrimPrefix(p.ImportPath, p.Module.Path)
	i := strings.LastIndex(rest+"/", "/internal/")
	if i < 0 {
		return relay{p.Module.Path, p.Module.Dir}
	}
	return relay{p.Module.Path + rest[:i], filepath.Join(p.Module.Dir, filepath.FromSlash(rest[:i]))}
}

// addMain writes the main package of a module, a relay that it imports, and one
// for each tree with its own internal directory.
func addMain(m load.Module, relays map[relay][]string, add func(path, text string) error) error {
	at := slices.SortedFunc(maps.Keys(relays), func(a, b relay) int { return strings.Compare(a.path, b.path) })
	var imports []string
	for _, r := range at {
		var b strings.Builder
		b.WriteString("package allocs_relays\n\nimport (\n")
		for i, p := range relays[r] {
			fmt.Fprintf(&b, "\tp%d %q\n", i, p)
		}
		b.WriteString(")\n\nvar All = [][]interface{}{\n")
		for i, p := range relays[r] {
			fmt.Fprintf(&b, "\tp%d.%s,\n", i, keepName(p))
		}
		b.WriteString("}\n")
		if err := add(filepath.Join(r.dir, relayDir, "relay.go"), b.String()); err != nil {
			return err
		}
		imports = append(imports, r.path+"/"+relayDir)
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for i, p := range imports {
		fmt.Fprintf(&b, "\tr%d %q\n", i, p)
	}
	b.WriteString(")\n\nfunc main() {\n\tfor _, all := range [][][]interface{}{")
	for i := range imports {
		fmt.Fprintf(&b, "r%d.All, ", i)
	}
	b.WriteString("} {\n\t\tfor _, fs := range all {\n\t\t\tfor _, f := range fs {\n\t\t\t\tprintln(f)\n\t\t\t}\n\t\t}\n\t}\n}\n")
	return add(filepath.Join(m.Dir, mainDir, "main.go"), b.String())
}

// Link builds the executables, below work.
func (b *Build) Link(ctx context.Context, tc *toolchain.Toolchain, moduleDir, work string) error {
	b.Executables = nil
	for i, target := range b.Targets {
		exe := filepath.Join(work, fmt.Sprintf("program-%d", i))
		if _, err := tc.Go(ctx, moduleDir, "build", toolchain.NoDebug,
			"-overlay", b.Overlay, "-o", exe, target); err != nil {
			return err
		}
		b.Executables = append(b.Executables, exe)
	}
	return nil
}
