// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// Scope is the scope of a run: a baseline must cover all of it.
type Scope struct {
	Patterns []string          // patterns, relative to the directory of the module
	Packages map[string]string // packages that match: import path → directory
}

// scope sets the scope of a run, without the packages that do not build.
func (s *session) scope() {
	r := s.report
	below, err := filepath.Rel(r.ModuleDir, s.Dir)
	if err != nil {
		below = "."
	}
	r.Scope = Scope{Packages: map[string]string{}}
	for _, p := range s.Patterns {
		if strings.HasPrefix(p, ".") {
			if p = path.Join(filepath.ToSlash(below), p); p != "." {
				p = "./" + p
			}
		}
		r.Scope.Patterns = append(r.Scope.Patterns, p)
	}
	slices.Sort(r.Scope.Patterns)
	r.Scope.Patterns = slices.Compact(r.Scope.Patterns)
	for i, all := range s.near {
		broken := func(p *load.Package) bool { return r.Broken[p.ImportPath] != "" }
		s.near[i] = slices.DeleteFunc(all, broken)
		for _, p := range s.near[i] {
			if !p.DepOnly {
				r.Scope.Packages[p.ImportPath] = p.Dir
			}
		}
	}
}
