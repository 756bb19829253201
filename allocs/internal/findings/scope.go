// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/source"
)

// Scope is the scope of a run.
type Scope struct {
	Patterns []string `json:"patterns"` // patterns, relative to the directory of the module
	Packages []string `json:"packages"` // import paths of those that match
	// Waivers are the //alloc:ok and //alloc:cold comments, by package.
	Waivers map[string][]string `json:"waivers,omitempty"`
}

func scope(r *check.Report, files *source.Files) Scope {
	s := Scope{Patterns: r.Scope.Patterns, Packages: slices.Sorted(maps.Keys(r.Scope.Packages)),
		Waivers: map[string][]string{}}
	dirs := map[string]string{}
	for p, dir := range r.Scope.Packages {
		dirs[dir] = p
	}
	if r.Roots == nil {
		return s
	}
	for at := range r.Roots.Waivers {
		if p, ok := dirs[filepath.Dir(at.File)]; ok {
			s.Waivers[p] = append(s.Waivers[p],
				path.Base(filepath.ToSlash(at.File))+" › "+files.Line(at.File, at.Line))
		}
	}
	for f := range r.Roots.Cold {
		for _, p := range s.Packages {
			if strings.HasPrefix(f, p+".") && !strings.Contains(f[len(p):], "/") {
				s.Waivers[p] = append(s.Waivers[p], "//alloc:cold "+f[len(p)+1:])
			}
		}
	}
	for _, all := range s.Waivers {
		slices.Sort(all)
	}
	return s
}
