// SPDX-License-Identifier: Apache-2.0

package arch

import (
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
sampling                    . internal/contract
layout                      . internal/callsite internal/level
nibslog                     . layout metrics schema internal/*
request                     . metrics sink internal/contract internal/jsonread internal/usercode
nibhttp                     . metrics request sink internal/usercode
sink                        . delivery metrics pool internal/level internal/usercode \
                            internal/contract internal/lastresort internal/logread
sink/stdout                 . delivery metrics internal/level internal/linebatch internal/loss \
                            internal/contract internal/stdio
sink/file/internal/mark     . internal/vfs
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
                            internal/deadletter internal/level internal/retry internal/usercode \
                            internal/vfs
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
		"internal/x/a.go":     importing("sink"),
	}, "sink/file/b.go:3: sink/file may not import dest/kafka", "internal/x may not import sink",
		"unknown/a.go: its folder has no row", "bridge/x may not import bench")
}
