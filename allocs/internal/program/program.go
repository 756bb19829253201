// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Build is a set of executables that together hold every function of the
// packages.
type Build struct {
	Overlay     string   // file for go build -overlay
	Targets     []string // what to build: the main package of the overlay, and the module's own
	Executables []string
}

// Prepare writes the overlay for the packages below work. moduleDir is the
// directory of their go.mod, modulePath its path.
func Prepare(pkgs []*load.Package, moduleDir, modulePath, work string) (*Build, error) {
	replace := map[string]string{}
	add := func(path, text string) error {
		sum := sha256.Sum256([]byte(path + "\x00" + text))
		to := filepath.Join(work, "overlay-"+hex.EncodeToString(sum[:8])+".go")
		replace[path] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	b := &Build{}
	relays := map[string][]string{} // import path of the one that may import → what it imports
	for _, p := range pkgs {
		if !p.Main() {
			continue
		}
		if p.Name == "main" {
			b.Targets = append(b.Targets, p.ImportPath)
		}
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue
		}
		text := keepFile(p)
		if p.Name == "main" {
			text += "\nfunc init() {\n\tfor _, f := range " + keepName + " {\n\t\tif f == nil {\n\t\t\tpanic(f)\n\t\t}\n\t}\n}\n"
		} else {
			at := importer(p.ImportPath, modulePath)
			relays[at] = append(relays[at], p.ImportPath)
		}
		if err := add(filepath.Join(p.Dir, "allocs_keeps_these.go"), text); err != nil {
			return nil, err
		}
	}
	if len(relays) > 0 {
		if err := addMain(relays, moduleDir, modulePath, add); err != nil {
			return nil, err
		}
		b.Targets = append(b.Targets, modulePath+"/"+mainDir)
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

// importer is the path that a package must be imported from: a package below
// a directory "internal" may only be imported from the tree that holds it.
func importer(path, module string) string {
	rest := strings.TrimPrefix(path, module)
	if i := strings.LastIndex(rest+"/", "/internal/"); i >= 0 {
		return module + rest[:i]
	}
	return module
}

// addMain writes the main package and a relay for each tree with an internal
// directory of its own.
func addMain(relays map[string][]string, moduleDir, modulePath string, add func(path, text string) error) error {
	at := make([]string, 0, len(relays))
	for path := range relays {
		at = append(at, path)
	}
	sort.Strings(at)
	var imports []string
	for _, path := range at {
		var b strings.Builder
		b.WriteString("package allocs_relays\n\nimport (\n")
		for i, p := range relays[path] {
			fmt.Fprintf(&b, "\tp%d %q\n", i, p)
		}
		b.WriteString(")\n\nvar All = [][]interface{}{\n")
		for i := range relays[path] {
			fmt.Fprintf(&b, "\tp%d.%s,\n", i, keepName)
		}
		b.WriteString("}\n")
		dir := filepath.Join(moduleDir, filepath.FromSlash(strings.TrimPrefix(path, modulePath)), relayDir)
		if err := add(filepath.Join(dir, "relay.go"), b.String()); err != nil {
			return err
		}
		imports = append(imports, path+"/"+relayDir)
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
	return add(filepath.Join(moduleDir, mainDir, "main.go"), b.String())
}

// Link builds the executables, below work.
func (b *Build) Link(ctx context.Context, tc *toolchain.Toolchain, moduleDir, work string) error {
	b.Executables = nil
	for i, target := range b.Targets {
		exe := filepath.Join(work, fmt.Sprintf("program-%d", i))
		if _, err := tc.Go(ctx, moduleDir, "build", "-overlay", b.Overlay, "-o", exe, target); err != nil {
			return err
		}
		b.Executables = append(b.Executables, exe)
	}
	return nil
}
