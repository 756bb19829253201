// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the code in docs/recipes.md")

// A region of the page has the code of a folder.
var region = regexp.MustCompile("(?s)<!-- recipe: ([a-z]+) -->\n.*?<!-- recipe: end -->\n")

func TestPageHasTheCodeOfTheRecipes(t *testing.T) {
	const page = "../../docs/recipes.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/recipe.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	want := region.ReplaceAllStringFunc(string(text), func(old string) string {
		name := region.FindStringSubmatch(old)[1]
		file := filepath.Join(name, "recipe.go")
		files = slices.DeleteFunc(files, func(s string) bool { return s == file })
		return "<!-- recipe: " + name + " -->\n```go\n" + code(t, file) + "```\n<!-- recipe: end -->\n"
	})
	if len(files) > 0 {
		t.Errorf("%s is without %q", page, files)
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is older than the recipes: run go test -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// code returns a file from its imports on.
func code(t *testing.T, file string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimLeft(string(source[set.Position(f.Name.End()).Offset:]), "\n")
}
