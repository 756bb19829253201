// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// Scope is the scope of a run: a baseline must cover all of it.
type Scope struct {
	Patterns []string          // patterns, relative to the directory of the module
	Packages map[string]string // packages that match: import path → directory
}

// scope begins the scope of a run.
func (s *session) scope() {
	below, err := filepath.Rel(s.report.ModuleDir, s.Dir)
	if err != nil {
		below = "."
	}
	s.report.Scope = Scope{Packages: map[string]string{}}
	for _, p := range s.Patterns {
		if strings.HasPrefix(p, ".") {
			if p = path.Join(filepath.ToSlash(below), p); p != "." {
				p = "./" + p
			}
		}
		s.report.Scope.Patterns = append(s.report.Scope.Patterns, p)
	}
	sort.Strings(s.report.Scope.Patterns)
	s.report.Scope.Patterns = slices.Compact(s.report.Scope.Patterns)
}

// matched records the packages that match on one toolchain.
func (s *session) matched(own []*load.Package) {
	for _, p := range own {
		s.report.Scope.Packages[p.ImportPath] = p.Dir
	}
}
