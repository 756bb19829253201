// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows has a row for each folder: what it may import from the repository. The
// first row that matches counts; a folder without a row is a violation, so a
// new one needs a row here. "x/*" stands for all folders below x, "." for the
// root package, public for everything but internal packages, and all for
// everything. A folder, except for the root and sink, may also import the
// folders below it.
const arrows = `
.                           schema pool metrics internal/*
internal/jsonenc
internal/jsonread           internal/jsonenc internal/contract
internal/clock
internal/callsite
internal/invariants
internal/publish
internal/arch
internal/plan               internal/jsonenc internal/jsonread
internal/settings           . internal/level
internal/linevalue          .
internal/logread            . internal/jsonread internal/linevalue
internal/deadletter         . internal/jsonenc internal/jsonread
internal/loss               . delivery metrics internal/contract internal/level
internal/httpsend           . delivery
internal/loggertest         . nibslog schema sink sink/console sink/logfmt
internal/*                  metrics internal/*
metrics
pool                        metrics internal/invariants internal/publish
pool/list                   internal/invariants
schema                      internal/* pool
delivery                    . internal/stdio
target                      . delivery internal/settings
target/tlsfiles             target
sampling                    .
layout                      . internal/callsite internal/level
nibslog                     . layout metrics schema internal/*
request                     . metrics sink internal/contract internal/jsonread internal/usercode
nibhttp                     . metrics request sink internal/usercode
sink                        . delivery metrics pool internal/level internal/usercode \
                            internal/contract internal/lastresort internal/logread
sink/stdout                 . delivery metrics internal/level internal/linebatch internal/loss \
                            internal/contract internal/stdio
sink/file                   . delivery metrics target internal/vfs internal/level \
                            internal/linebatch internal/loss \
                            internal/lastresort internal/usercode internal/contract
sink/console                . delivery metrics internal/level internal/jsonenc internal/jsonread \
                            internal/linevalue internal/linewriter internal/contract
sink/logfmt                 . delivery metrics internal/jsonenc internal/jsonread \
                            internal/linewriter internal/contract
sink/journald               . delivery metrics internal/jsonenc internal/jsonread internal/level \
                            internal/loss internal/contract
sink/spool/internal/segment . delivery internal/level internal/loss internal/publish internal/vfs
sink/spool/internal/store   sink/spool/internal/segment internal/vfs
sink/spool/internal/deliver . delivery sink/spool/internal/segment sink/spool/internal/store \
                            internal/deadletter internal/level internal/usercode internal/vfs
sink/spool                  . delivery metrics internal/*
dest/syslog                 . delivery metrics target target/tlsfiles internal/jsonread \
                            internal/level
dest/kafka/kfaketest        . delivery dest/kafka dest/kafka/* setup sink/spool target
dest/otlp/otlptest          . delivery dest/otlp
dest/otlp                   . delivery internal/* layout metrics target target/tlsfiles
dest/elastic                . delivery internal/* metrics target target/tlsfiles
dest/*                      . delivery metrics target target/tlsfiles
setup                       . delivery metrics target sink sink/* dest/syslog layout nibslog \
                            internal/*
nibtest                     . delivery
alloctest
bridge/nibgrpc              . request sink
bridge/*                    . schema
allocs
allocs/*                    allocs allocs/*
cmd/demo                    all
cmd/nib                     all
cmd/nib/*                   all
bench                       all
bench/*                     all
examples/*                  public
e2e                         public
e2e/*                       public
`

// upward are the public packages that those below internal/ import, each for a
// reason. An internal package should be below all public ones.
var upward = map[string]string{
	"internal/counttest → metrics":  "it compares metrics with counts",
	"internal/deadletter → .":       "an entry of a file of rejected records is a record",
	"internal/httpsend → .":         "it sends records",
	"internal/httpsend → delivery":  "it is what the destinations over HTTP share",
	"internal/level → metrics":      "the counts of lines by level are a metric of each sink",
	"internal/logread → .":          "it finds the level of a line",
	"internal/linevalue → .":        "it reads the layouts and levels that the root declares",
	"internal/linewriter → metrics": "the queue of a writer has metrics",
	"internal/loss → .":             "it counts losses by level, and writes notices as records",
	"internal/loss → delivery":      "it counts losses by the reasons that delivery declares",
	"internal/loss → metrics":       "the counts are a metric of each sink",
	"internal/settings → .":         "it parses levels",
}

// forTests are folders that any test may import as well.
var forTests = []string{".", "alloctest", "nibtest", "layout", "internal/*"}

// ends are the folders that nothing outside of them imports.
var ends = []string{"cmd", "bench", "examples", "e2e", "allocs/cmd"}

// allowedBy returns the row of the table for a folder.
func allowedBy(folder string) (may []string, ok bool) {
	for row := range strings.Lines(strings.ReplaceAll(arrows, "\\\n", "")) {
		fields := strings.Fields(row)
		if len(fields) > 0 && allows(fields[:1], folder) {
			return fields[1:], true
		}
	}
	return nil, false
}

// allows reports whether a list of the table contains a folder.
func allows(list []string, folder string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		if below, ok := strings.CutSuffix(pattern, "/*"); ok {
			return folder != below && within(folder, below)
		}
		return pattern == folder || pattern == "all" || pattern == "public" && !isInternal(folder)
	})
}

// imports returns the folders of this repository that a file imports, and their
// positions.
func (s *source) imports() map[string]string {
	folders := map[string]string{}
	for _, spec := range s.syntax.Imports {
		p := strings.Trim(spec.Path.Value, "`\"")
		if p == root {
			folders["."] = s.at(spec)
		} else if folder, ok := strings.CutPrefix(p, root+"/"); ok {
			folders[folder] = s.at(spec)
		}
	}
	return folders
}

func (s *source) mayImport(to string, may []string) bool {
	for _, end := range ends {
		if within(to, end) && !within(s.folder, end) {
			return false
		}
	}
	return to == s.folder && s.isTest || allows(may, to) || s.isTest && allows(forTests, to) ||
		s.folder != "." && s.folder != "sink" && within(to, s.folder) && to != s.folder
}

func checkArrows(t *tree) (v faults) {
	for _, s := range t.files {
		may, ok := allowedBy(s.folder)
		if !ok {
			v = append(v, s.path+": its folder has no row in the table of imports")
			continue
		}
		for to, at := range s.imports() {
			if !s.mayImport(to, may) {
				v.add("%s: %s may not import %s", at, s.folder, to)
			}
		}
	}
	return v
}

// checkUpward finds packages below internal/ that import public ones.
func checkUpward(t *tree, exceptions map[string]string) (v faults) {
	unused := maps.Clone(exceptions)
	for _, s := range t.files {
		if s.isTest || !within(s.folder, "internal") {
			continue
		}
		for to, at := range s.imports() {
			arrow := s.folder + " → " + to
			delete(unused, arrow)
			if !isInternal(to) && exceptions[arrow] == "" {
				v = append(v, at+": "+arrow+": internal packages are below public ones")
			}
		}
	}
	for arrow := range unused {
		v = append(v, arrow+": the exception is not needed any more")
	}
	return v
}

// checkCycles finds folders that import each other, over any number of steps.
func checkCycles(t *tree) (v faults) {
	graph := map[string]map[string]string{}
	for _, s := range t.files {
		if !s.isTest {
			if graph[s.folder] == nil {
				graph[s.folder] = map[string]string{}
			}
			maps.Copy(graph[s.folder], s.imports())
		}
	}
	var path []string
	done := map[string]bool{}
	var visit func(folder string)
	visit = func(folder string) {
		if i := slices.Index(path, folder); i >= 0 {
			v.add("cycle of imports: %s", strings.Join(append(path[i:], folder), " → "))
		} else if !done[folder] {
			path = append(path, folder)
			for to := range graph[folder] {
				visit(to)
			}
			path = path[:len(path)-1]
			done[folder] = true
		}
	}
	for folder := range graph {
		visit(folder)
	}
	return v
}

// importing returns a file that imports a folder of the repository.
func importing(folder string) string {
	return "package p\n\nimport _ \"" + path.Join(root, folder) + "\"\n"
}

func TestArrows(t *testing.T) {
	verify(t, checkArrows, map[string]string{
		"sink/file/a.go":      importing("."),
		"sink/file/a_test.go": importing("sink/file"),
		"sink/file/b.go":      importing("dest/kafka"),
		"unknown/a.go":        "package unknown\n",
		"bridge/x/a_test.go":  importing("bench"),
	}, "sink/file/b.go:3: sink/file may not import dest/kafka",
		"unknown/a.go: its folder has no row", "bridge/x may not import bench")
}

func TestInternalPackagesAreBelowPublicOnes(t *testing.T) {
	check := func(t *tree) faults { return checkUpward(t, nil) }
	mustFind(t, check(treeOf(t, map[string]string{"internal/x/a.go": importing("sink")})),
		"internal/x/a.go:3: internal/x → sink")
	unused := map[string]string{"internal/x → sink": "a reason"}
	mustFind(t, checkUpward(&tree{}, unused), "not needed")
	report(t, checkUpward(loaded(t), upward))
}

func TestImportsHaveNoCycles(t *testing.T) {
	verify(t, checkCycles, map[string]string{
		"a/a.go": importing("b"), "b/b.go": importing("c"), "c/c.go": importing("b"), "c/c_test.go": importing("a"),
	}, "cycle of imports: ")
}
