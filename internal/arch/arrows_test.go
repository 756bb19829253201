// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows are the folders of the repository that a folder may import. The first
// row that matches counts; a folder without a row is a violation, so a new one
// needs a row here. "x/*" stands for all folders below x, "." for the root
// package, public for everything but internal packages, and all for everything.
// A folder, except for the root and sink, may also import the folders below it.
var arrows = []struct {
	folder string
	may    []string
}{
	{".", []string{"schema", "pool", "metrics", "internal/*"}},

	{"internal/jsonenc", nil},
	{"internal/jsonread", []string{"internal/jsonenc", "internal/contract"}},
	{"internal/clock", nil},
	{"internal/callsite", nil},
	{"internal/invariants", nil},
	{"internal/publish", nil},
	{"internal/arch", nil},
	{"internal/plan", []string{"internal/jsonenc", "internal/jsonread"}},
	{"internal/settings", []string{"."}},
	{"internal/linevalue", []string{"."}},
	{"internal/lineindex", []string{".", "logread", "internal/vfs"}},
	{"internal/loss", []string{".", "delivery", "metrics", "internal/contract", "internal/level"}},
	{"internal/*", []string{"metrics", "internal/*"}},

	{"metrics", nil},

	{"pool", []string{"metrics", "internal/invariants", "internal/publish"}},
	{"pool/list", []string{"internal/invariants"}},
	{"schema", []string{"internal/*", "pool"}},
	{"delivery", []string{".", "internal/stdio"}},
	{"delivery/httpsend", []string{"delivery"}},
	{"delivery/rawjson", []string{"internal/jsonread"}},
	{"target", []string{".", "delivery", "internal/settings"}},
	{"target/tlsfiles", []string{"target"}},
	{"sampling", []string{"."}},
	{"layout", []string{".", "internal/callsite", "internal/level"}},
	{"nibslog", []string{".", "layout", "metrics", "schema", "internal/*"}},
	{"request", []string{".", "metrics", "sink", "internal/contract", "internal/jsonread", "internal/usercode"}},
	{"nibhttp", []string{".", "metrics", "request", "sink", "internal/usercode"}},

	{"sink", []string{".", "delivery", "metrics", "pool", "internal/level", "internal/usercode", "internal/contract"}},
	{"sink/stdout", []string{".", "delivery", "metrics", "internal/level", "internal/linebatch", "internal/loss", "internal/contract", "internal/stdio"}},
	{"sink/file", []string{".", "delivery", "metrics", "target", "internal/vfs", "internal/level", "internal/lineindex", "internal/linebatch", "internal/loss", "internal/lastresort", "internal/usercode", "internal/contract"}},
	{"sink/console", []string{".", "delivery", "metrics", "internal/level", "internal/jsonenc", "internal/jsonread", "internal/linevalue", "internal/linewriter", "internal/contract"}},
	{"sink/logfmt", []string{".", "delivery", "metrics", "internal/jsonenc", "internal/jsonread", "internal/linewriter", "internal/contract"}},
	{"sink/journald", []string{".", "delivery", "metrics", "internal/jsonenc", "internal/jsonread", "internal/level", "internal/loss", "internal/contract"}},
	{"sink/spool/internal/segment", []string{".", "delivery", "internal/level", "internal/loss", "internal/publish", "internal/vfs"}},
	{"sink/spool/internal/store", []string{"sink/spool/internal/segment", "internal/vfs"}},
	{"sink/spool/internal/deliver", []string{".", "delivery", "sink/spool/internal/segment", "sink/spool/internal/store", "internal/jsonenc", "internal/level", "internal/usercode", "internal/vfs"}},
	{"sink/spool", []string{".", "delivery", "metrics", "internal/*"}},
	{"dest/syslog", []string{".", "delivery", "metrics", "target", "target/tlsfiles", "internal/jsonread", "internal/level"}},
	{"dest/kafka/kfaketest", []string{".", "delivery", "dest/kafka", "dest/kafka/*", "setup", "sink/spool", "target"}},
	{"dest/otlp/otlptest", []string{".", "delivery", "dest/otlp"}},
	{"dest/otlp", []string{".", "delivery", "delivery/*", "layout", "metrics", "target", "target/tlsfiles"}},
	{"dest/elastic", []string{".", "delivery", "delivery/*", "metrics", "target", "target/tlsfiles"}},
	{"dest/*", []string{".", "delivery", "metrics", "target", "target/tlsfiles"}},
	{"logread", []string{".", "internal/jsonread", "internal/linevalue"}},
	{"setup", []string{".", "delivery", "metrics", "target", "sink", "sink/*", "dest/syslog", "layout", "nibslog", "internal/*"}},

	{"nibtest", []string{".", "delivery"}},
	{"alloctest", nil},

	{"bridge/nibgrpc", []string{".", "request", "sink"}},
	{"bridge/*", []string{".", "schema"}},
	{"allocs", nil},
	{"allocs/*", []string{"allocs", "allocs/*"}},
	{"cmd/nib", []string{all}},
	{"cmd/nib/*", []string{all}},
	{"bench", []string{all}},
	{"bench/*", []string{all}},
	{"examples/*", []string{public}},
	{"e2e", []string{public}},
	{"e2e/*", []string{public}},
}

const (
	all    = "all"
	public = "public"
)

// forTests are folders that any test may import as well.
var forTests = []string{".", "alloctest", "nibtest", "layout", "internal/*"}

// ends are the folders that nothing outside of them imports.
var ends = []string{"cmd", "bench", "examples", "e2e", "allocs/cmd", "allocs/docgen"}

// allows reports whether a list of the table contains a folder.
func allows(list []string, folder string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		switch pattern {
		case all:
			return true
		case public:
			return !slices.Contains(strings.Split(folder, "/"), "internal")
		}
		if below, ok := strings.CutSuffix(pattern, "/*"); ok {
			return folder != below && within(folder, below)
		}
		return folder == pattern
	})
}

func checkArrows(t *tree) (violations []string) {
	for _, s := range t.files {
		row := slices.IndexFunc(arrows, func(r struct {
			folder string
			may    []string
		}) bool {
			return allows([]string{r.folder}, s.folder)
		})
		if row < 0 {
			violations = append(violations, fmt.Sprintf("%s: folder %s has no row in the table of imports", s.path, s.folder))
			continue
		}
		paths, at := s.imports()
		for i, p := range paths {
			if to, ok := folderOf(p); ok && !allowedArrow(s, arrows[row].may, to) {
				violations = append(violations, fmt.Sprintf("%s: %s may not import %s", at[i], s.folder, to))
			}
		}
	}
	return violations
}

func allowedArrow(s *source, may []string, to string) bool {
	for _, end := range ends {
		if within(to, end) && !within(s.folder, end) {
			return false
		}
	}
	switch {
	case to == s.folder: // the external test of a package
		return s.isTest()
	case s.folder != "." && s.folder != "sink" && strings.HasPrefix(to, s.folder+"/"):
		return true
	case allows(may, to):
		return true
	}
	return s.isTest() && allows(forTests, to)
}

// checkForeign finds imports of the root module that come from neither the
// repository nor the standard library.
func checkForeign(t *tree) (violations []string) {
	for _, s := range t.files {
		if s.module != "." {
			continue
		}
		paths, at := s.imports()
		for i, p := range paths {
			first, _, _ := strings.Cut(p, "/")
			if _, own := folderOf(p); p == "C" || !own && strings.Contains(first, ".") {
				violations = append(violations, fmt.Sprintf("%s: the root module uses the standard library only, not %q", at[i], p))
			}
		}
	}
	return violations
}

// checkNames finds folders whose name does not describe their contents.
func checkNames(t *tree) (violations []string) {
	seen := map[string]bool{}
	for _, s := range t.files {
		for folder := s.folder; folder != "." && !seen[folder]; folder = path.Dir(folder) {
			seen[folder] = true
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc"}, path.Base(folder)) {
				violations = append(violations, folder+": name the package after what it provides")
			}
		}
	}
	return violations
}

// checkInstalled finds commands of the module allocs that are not for its
// users: generators of documents belong in another module, allocs/docgen.
func checkInstalled(t *tree) (violations []string) {
	for _, s := range t.files {
		command := path.Base(s.folder)
		if s.module == "allocs" && path.Dir(s.folder) == "allocs/cmd" && command != "allocs" && command != "allocsvet" {
			violations = append(violations, s.path+": commands of the module allocs are installed by users; generators of documents go into allocs/docgen")
		}
	}
	return violations
}

// importing returns a file of package p that imports one path.
func importing(p string) string { return "package p\n\nimport _ \"" + p + "\"\n" }

func TestArrows(t *testing.T) {
	tryOn(t, checkArrows, []fixture{
		{"good", map[string]string{
			"nib.go":                  importing(root + "/internal/jsonenc"),
			"nib_test.go":             importing(root + "/alloctest"),
			"x_test.go":               importing(root),
			"setup/a.go":              importing(root + "/sink/file"),
			"sink/file/a.go":          importing(root),
			"sink/file/b.go":          importing(root + "/internal/vfs"),
			"bench/a.go":              importing(root + "/bench/measure"),
			"bench/measure/a.go":      importing(root + "/internal/clock"),
			"cmd/nib/main.go":         importing(root + "/cmd/nib/command"),
			"cmd/nib/command/demo.go": importing(root + "/sink/file"),
			"examples/a/main.go":      importing(root + "/setup"),
			"internal/vfs/a.go":       importing(root + "/internal/invariants"),
			"schema/a.go":             importing("reflect"),
			"dest/kafka/a.go":         importing("example.com/client"),
		}, nil},
		{"root to a sink", map[string]string{"nib.go": importing(root + "/sink/file")}, []string{"nib.go:3: . may not import sink/file"}},
		{"root to the combinators", map[string]string{"nib.go": importing(root + "/sink")}, []string{"may not import sink"}},
		{"hidden by a build tag", map[string]string{"a.go": "//go:build never\n\n" + importing(root+"/layout")}, []string{"may not import layout"}},
		{"sink to a sink", map[string]string{"sink/file/a.go": importing(root + "/sink/stdout")}, []string{"sink/file may not import sink/stdout"}},
		{"test of a sink to a sink", map[string]string{"sink/file/a_test.go": importing(root + "/sink/stdout")}, []string{"may not import sink/stdout"}},
		{"combinators to a sink", map[string]string{"sink/a.go": importing(root + "/sink/file")}, []string{"sink may not import sink/file"}},
		{"destination to a destination", map[string]string{"dest/kafka/a.go": importing(root + "/dest/syslog")}, []string{"may not import dest/syslog"}},
		{"internal upward", map[string]string{"internal/vfs/a.go": importing(root + "/sink/file")}, []string{"internal/vfs may not import sink/file"}},
		{"internal to the root", map[string]string{"internal/vfs/a.go": importing(root)}, []string{"internal/vfs may not import ."}},
		{"encoder to anything", map[string]string{"internal/jsonenc/a.go": importing(root + "/internal/clock")}, []string{"may not import internal/clock"}},
		{"pool to the root", map[string]string{"pool/a.go": importing(root)}, []string{"pool may not import ."}},
		{"alloctest to the root", map[string]string{"alloctest/a.go": importing(root)}, []string{"alloctest may not import ."}},
		{"setup to a benchmark", map[string]string{"setup/a.go": importing(root + "/bench")}, []string{"may not import bench"}},
		{"benchmark to a command", map[string]string{"bench/a.go": importing(root + "/cmd/nib/command")}, []string{"may not import cmd/nib/command"}},
		{"example to internal", map[string]string{"examples/a/a.go": importing(root + "/internal/clock")}, []string{"may not import internal/clock"}},
		{"published module to internal", map[string]string{"bridge/niblogrus/a.go": importing(root + "/internal/clock")}, []string{"may not import internal/clock"}},
		{"unknown folder", map[string]string{"surprise/a.go": "package surprise\n"}, []string{"folder surprise has no row"}},
		{"root to itself", map[string]string{"a.go": importing(root)}, []string{"may not import ."}},
	})
	loaded, _ := repository(t)
	report(t, checkArrows(loaded))
}

func TestRootModuleUsesTheStandardLibraryOnly(t *testing.T) {
	tryOn(t, checkForeign, []fixture{
		{"good", map[string]string{
			"a.go":         importing("log/slog"),
			"sink/a.go":    importing(root),
			"bench/go.mod": "module " + root + "/bench\n",
			"bench/a.go":   importing("go.uber.org/zap"),
		}, nil},
		{"foreign", map[string]string{"a.go": importing("go.uber.org/zap")}, []string{`a.go:3: the root module uses the standard library only, not "go.uber.org/zap"`}},
		{"foreign in a test", map[string]string{"a_test.go": importing("github.com/stretchr/testify")}, []string{"testify"}},
		{"similar name", map[string]string{"a.go": importing(root + "tricks")}, []string{"nibtricks"}},
		{"cgo", map[string]string{"a.go": importing("C")}, []string{`"C"`}},
	})
	loaded, _ := repository(t)
	report(t, checkForeign(loaded))
}

func TestUsersOfAllocsInstallNoGenerators(t *testing.T) {
	tryOn(t, checkInstalled, []fixture{
		{"good", map[string]string{
			"allocs/go.mod":            "module " + root + "/allocs\n",
			"allocs/cmd/allocs/a.go":   "package main\n",
			"allocs/docgen/go.mod":     "module " + root + "/allocs/docgen\n",
			"allocs/docgen/cmd/x.go":   "package main\n",
			"allocs/docgen/cmd/x/a.go": "package main\n",
		}, nil},
		{"generator", map[string]string{
			"allocs/go.mod":       "module " + root + "/allocs\n",
			"allocs/cmd/tab/a.go": "package main\n",
		}, []string{"allocs/cmd/tab/a.go: commands of the module allocs"}},
	})
	loaded, _ := repository(t)
	report(t, checkInstalled(loaded))
}

func TestFolderNames(t *testing.T) {
	tryOn(t, checkNames, []fixture{
		{"good", map[string]string{"a.go": "package a\n", "pool/list/a.go": "package list\n"}, nil},
		{"bad", map[string]string{"internal/util/a.go": "package util\n", "sink/common/x/a.go": "package x\n"},
			[]string{"internal/util: name", "sink/common: name"}},
	})
	loaded, _ := repository(t)
	report(t, checkNames(loaded))
}
