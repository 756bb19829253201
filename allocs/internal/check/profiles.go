// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// profiles returns the profiles that guide the builds of a toolchain: the
// requested profile, or the default.pgo of each main package, which the go
// command applies to the package and its imports.
func (s *session) profiles(tc *toolchain.Toolchain, own []*load.Package) []string {
	switch {
	case tc.PGO == "off":
		return nil
	case tc.PGO != "":
		return []string{s.relative(tc.PGO)}
	case !tc.Guides():
		return nil
	}
	var out []string
	for _, p := range own {
		if name := p.Profile(); name != "" {
			out = append(out, s.relative(name))
		}
	}
	return out
}

// relative returns the name of a file relative to the module.
func (s *session) relative(name string) string {
	rel, err := filepath.Rel(s.report.ModuleDir, name)
	if err != nil || strings.HasPrefix(rel, "..") {
		return name
	}
	return filepath.ToSlash(rel)
}
