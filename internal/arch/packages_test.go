// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// minExample is the least number of lines of Go in a package comment.
const minExample = 10

// shortExamples are enough for their packages, each for a reason.
var shortExamples = map[string]struct {
	lines  int
	reason string
}{
	"bridge/niblogrus": {4, "the point is that one line changes"},
	"setup":            {9, "the point is that one call is enough"},

	"target":          {0, "most readers write targets; a Spec is longer than a comment, and ExampleParse has one"},
	"target/tlsfiles": {6, "to embed a struct and call its method is all there is to do"},
}

// unimported are the modules and folders that no other program imports.
var unimported = []string{"allocs", "bench", "cmd", "e2e", "examples", "internal"}

// isPublic reports whether other modules import the package in a folder.
func isPublic(folder string) bool {
	if folder == "dest/kafka/embedded" || folder == "dest/kafka/topic" || folder == "dest/kafka/kfaketest" || folder == "dest/otlp/otlptest" { // for tests and the demo
		return false
	}
	elements := strings.Split(folder, "/")
	return !slices.Contains(unimported, elements[0]) && !slices.Contains(elements, "internal")
}

// checkPackages wants each public package to have a comment that begins as
// godoc expects and has an example, and an Example function, which is compiled.
func checkPackages(t *tree) (violations []string) {
	comments, examples := map[string]string{}, map[string]bool{}
	for _, s := range t.files {
		if !s.isGo() || !isPublic(s.folder) {
			continue
		}
		if s.isTest() {
			examples[s.folder] = examples[s.folder] || hasExample(s.syntax)
			continue
		}
		comments[s.folder] += "" // the package is there
		if s.syntax.Doc != nil {
			comments[s.folder] += s.syntax.Doc.Text()
		}
	}
	for folder, comment := range comments {
		name := path.Base(folder)
		if folder == "." {
			name = "nib"
		}
		if !strings.HasPrefix(comment, "Package "+name+" ") {
			violations = append(violations, fmt.Sprintf("%s: no comment that begins with Package %s", folder, name))
		}
		want := minExample
		if short, ok := shortExamples[folder]; ok {
			want = short.lines
		}
		if n := exampleLines(comment); n < want {
			violations = append(violations, fmt.Sprintf("%s: %d lines of Go in the package comment, want at least %d", folder, n, want))
		}
		if !examples[folder] {
			violations = append(violations, folder+": no Example function")
		}
	}
	return violations
}

func hasExample(file *ast.File) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example")
	})
}

// exampleLines counts the lines of Go in a comment.
func exampleLines(comment string) (n int) {
	for _, s := range snippetsOf(comment) {
		n += strings.Count(s.code, "\n") + 1
	}
	return n
}

func TestPackagesAreDocumented(t *testing.T) {
	good := "// Package a does it.\n//\n" + strings.Repeat("//\tf()\n", minExample) + "package a\n"
	const example = "package a_test\n\nfunc ExampleA() {}\n"
	tryOn(t, checkPackages, []fixture{
		{"good", map[string]string{"a/a.go": good, "a/a_test.go": example}, nil},
		{"no comment", map[string]string{"a/a.go": "package a\n", "a/a_test.go": example}, []string{"begins with Package a", "0 lines"}},
		{"no example", map[string]string{"a/a.go": good, "a/a_test.go": "package a_test\n\nfunc TestA() {}\n"}, []string{"no Example function"}},
		{"short example", map[string]string{"a/a.go": "// Package a does it.\n//\n//\tf()\n//\n// or\n//\n//\ta table\n//\tof text\npackage a\n", "a/a_test.go": example}, []string{"1 lines"}},
		{"not public", map[string]string{"a/internal/b/b.go": "package b\n", "cmd/x/main.go": "package main\n"}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkPackages(loaded))
}
