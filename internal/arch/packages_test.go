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

// minExample is the number of lines that the examples in a package comment have
// at least.
const minExample = 4

// unimported are the modules and folders that no other program imports.
var unimported = []string{"allocs", "bench", "cmd", "e2e", "examples", "internal"}

// isPublic reports whether other modules import the package in a folder.
func isPublic(folder string) bool {
	if folder == "dest/kafka/embedded" || folder == "dest/kafka/topic" || folder == "dest/kafka/kfaketest" { // for tests and the demo
		return false
	}
	elements := strings.Split(folder, "/")
	return !slices.Contains(unimported, elements[0]) && !slices.Contains(elements, "internal")
}

// checkPackages wants each public package to have a comment that begins as godoc
// expects and has an example, and an Example function, which is compiled.
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
		if n := exampleLines(comment); n < minExample {
			violations = append(violations, fmt.Sprintf("%s: %d lines of examples in the package comment, want at least %d", folder, n, minExample))
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

// exampleLines counts the lines of code in a comment.
func exampleLines(comment string) (n int) {
	for line := range strings.Lines(comment) {
		if strings.HasPrefix(line, "\t") {
			n++
		}
	}
	return n
}

func TestPackagesAreDocumented(t *testing.T) {
	const good = "// Package a does it.\n//\n//\ta\n//\tb\n//\tc\n//\td\npackage a\n"
	const example = "package a_test\n\nfunc ExampleA() {}\n"
	tryOn(t, checkPackages, []fixture{
		{"good", map[string]string{"a/a.go": good, "a/a_test.go": example}, nil},
		{"no comment", map[string]string{"a/a.go": "package a\n", "a/a_test.go": example}, []string{"begins with Package a", "0 lines"}},
		{"no example", map[string]string{"a/a.go": good, "a/a_test.go": "package a_test\n\nfunc TestA() {}\n"}, []string{"no Example function"}},
		{"short example", map[string]string{"a/a.go": "// Package a does it.\n//\n//\ta\npackage a\n", "a/a_test.go": example}, []string{"1 lines"}},
		{"not public", map[string]string{"a/internal/b/b.go": "package b\n", "cmd/x/main.go": "package main\n"}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkPackages(loaded))
}
