// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// promises is the table of the documents' promises: a section for each
// document, a row for each promise in the document's own words, and the tests
// that fail if it is broken.
const promises = "docs/promises.md"

// promising are the headings under which each bold phrase is a promise that
// needs a row.
var promising = []string{"What it promises", "What is promised", "The contract"}

// A promise is a row of the table.
type promise struct {
	document, phrase string
	tests            []string // "sink/file.TestLimits"; the folder of the root package is "nib"
}

var (
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	testName = regexp.MustCompile("`([^`]+)`")
)

// readPromises reads the table.
func readPromises(text string) (rows []promise, violations []string) {
	document := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			document = heading
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if document == "" || !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Promise |") {
			continue
		}
		if len(cells) != 2 {
			violations = append(violations, fmt.Sprintf("%s: want two cells in %q", promises, line))
			continue
		}
		p := promise{document: document, phrase: strings.TrimSpace(cells[0])}
		for _, m := range testName.FindAllStringSubmatch(cells[1], -1) {
			p.tests = append(p.tests, m[1])
		}
		rows = append(rows, p)
	}
	return rows, violations
}

// checkPromises compares the table with the documents and the tests.
func checkPromises(fsys fs.FS, t *tree) (violations []string) {
	table, err := fs.ReadFile(fsys, promises)
	if err != nil {
		return []string{err.Error()}
	}
	rows, violations := readPromises(string(table))
	tests := testFunctions(t)
	documents := map[string]string{}
	for _, p := range rows {
		if _, ok := documents[p.document]; !ok {
			text, err := fs.ReadFile(fsys, p.document)
			if err != nil {
				violations = append(violations, fmt.Sprintf("%s: %v", promises, err))
			}
			documents[p.document] = string(text)
		}
		if !strings.Contains(plain(documents[p.document]), plain(p.phrase)) {
			violations = append(violations, fmt.Sprintf("%s: %s does not say %q (any more)", promises, p.document, p.phrase))
		}
		if len(p.tests) == 0 {
			violations = append(violations, fmt.Sprintf("%s: no test for %q", promises, p.phrase))
		}
		for _, name := range p.tests {
			if !slices.Contains(tests, name) {
				violations = append(violations, fmt.Sprintf("%s: there is no test %s, for %q", promises, name, p.phrase))
			}
		}
	}
	return append(violations, missingPromises(fsys, rows)...)
}

// missingPromises returns the promises that have no row.
func missingPromises(fsys fs.FS, rows []promise) (violations []string) {
	documents, _ := fs.Glob(fsys, "docs/*.md")
	for _, document := range append(documents, "README.md") {
		text, err := fs.ReadFile(fsys, document)
		if err != nil {
			violations = append(violations, err.Error())
		}
		for _, m := range bold.FindAllStringSubmatch(strings.ReplaceAll(promisingText(string(text)), "`***`", ""), -1) {
			has := func(p promise) bool {
				return p.document == document && strings.Contains(plain(p.phrase), plain(m[1]))
			}
			if !slices.ContainsFunc(rows, has) {
				violations = append(violations, fmt.Sprintf("%s: %q has no row in %s", document, plain(m[1]), promises))
			}
		}
	}
	return violations
}

// promisingText returns the sections of a document with promises.
func promisingText(text string) string {
	var b strings.Builder
	within := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			within = slices.Contains(promising, strings.TrimSpace(strings.TrimLeft(line, "#")))
		} else if within {
			b.WriteString(line)
		}
	}
	return b.String()
}

// plain returns the text without marks and line breaks.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}

// testFunctions returns the names of all tests and fuzz targets, with their
// folders.
func testFunctions(t *tree) (names []string) {
	for _, s := range t.files {
		if !s.isTest() || !s.isGo() {
			continue
		}
		folder := s.folder
		if folder == "." {
			folder = path.Base(root)
		}
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				names = append(names, folder+"."+f.Name.Name)
			}
		}
	}
	return names
}

func TestPromisesHaveTests(t *testing.T) {
	const table = "| Promise | Tests |\n|---|---|\n"
	const good = "## README.md\n" + table + "| It is fast. | `a.TestFast`, `nib.TestRoot` |\n"
	cases := []fixture{
		{"good", map[string]string{"README.md": "# x\n## What it promises\n- **It is\nfast.** Very.\n- It **is fast.**\n", promises: good}, nil},
		{"no table", map[string]string{"README.md": ""}, []string{"promises.md"}},
		{"no such test", map[string]string{"README.md": "It is fast.", promises: strings.Replace(good, "TestFast", "TestSlow", 1)}, []string{"there is no test a.TestSlow"}},
		{"no test", map[string]string{"README.md": "It is fast.", promises: "## README.md\n" + table + "| It is fast. | trust us |\n"}, []string{"no test for"}},
		{"not said", map[string]string{"README.md": "It is slow.", promises: good}, []string{"does not say"}},
		{"no such document", map[string]string{"README.md": "It is fast.", promises: good + "## docs/x.md\n" + table + "| It is fast. | `a.TestFast` |\n"}, []string{"docs/x.md", "does not say"}},
		{"no row", map[string]string{"README.md": "## What it promises\n- **It is fast.**\n- **It is small.**\n## Other\n**no promise**\n", promises: good}, []string{`"It is small." has no row`}},
		{"three cells", map[string]string{"README.md": "It is fast.", promises: good + "| a | b | c |\n"}, []string{"two cells"}},
	}
	for _, c := range cases {
		fsys := fstest.MapFS{
			"a/a_test.go": {Data: []byte(spdx + "\npackage a\n\nfunc TestFast() {}\n")},
			"b_test.go":   {Data: []byte(spdx + "\npackage nib\n\nfunc TestRoot() {}\n")},
		}
		for name, text := range c.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		loaded, err := load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, c.name, checkPromises(fsys, loaded), c.want)
	}
	loaded, fsys := repository(t)
	report(t, checkPromises(fsys, loaded))
}
