// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// promises is the table of the documents' promises: a section for each
// document, a row for each promise in the document's own words, and the tests
// that fail if it is broken.
const promises = "docs/promises.md"

var (
	row      = regexp.MustCompile(`(?m)^\| ?([^|]+?) ?\| ?([^|]*?) ?\|$`)
	testName = regexp.MustCompile("`([^`]+)`")
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)

	// promising are the sections in which each bold phrase needs a row.
	promising = regexp.MustCompile(`(?s)\n#+ (?:What it promises|What is promised|The contract)\n(.*?)(\n#|$)`)
)

// checkPromises compares the table with the documents and the tests: a test is
// "sink/file.TestLimits", in the root package "nib.TestX".
func checkPromises(t *tree) (v faults) {
	tests, phrases := testFunctions(t), map[string]string{}
	sections := strings.Split(t.other[promises], "\n## ")
	for _, section := range sections[1:] {
		document, table, _ := strings.Cut(section, "\n")
		for _, m := range row.FindAllStringSubmatch(table, -1) {
			phrase, names := plain(m[1]), testName.FindAllStringSubmatch(m[2], -1)
			if phrase == "Promise" || strings.HasPrefix(phrase, "---") {
				continue
			}
			phrases[document] += phrase + "\n"
			if !strings.Contains(plain(t.other[document]), phrase) {
				v.add("%s: %s does not say %s", promises, document, phrase)
			}
			if len(names) == 0 {
				v.add("%s: no test for %s", promises, phrase)
			}
			for _, name := range names {
				if !tests[name[1]] {
					v.add("%s: there is no test %s, for %s", promises, name[1], phrase)
				}
			}
		}
	}
	for name, text := range t.other {
		if name != "README.md" && path.Dir(name) != "docs" {
			continue
		}
		text = strings.ReplaceAll(text, "`***`", "")
		for _, section := range promising.FindAllStringSubmatch(text, -1) {
			for _, m := range bold.FindAllStringSubmatch(section[1], -1) {
				if !strings.Contains(phrases[name], plain(m[1])) {
					v.add("%s: %s has no row in %s", name, plain(m[1]), promises)
				}
			}
		}
	}
	return v
}

// plain returns the text without marks and line breaks.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}

// testFunctions returns the names of all tests and fuzz targets, with their
// folders.
func testFunctions(t *tree) map[string]bool {
	names := map[string]bool{}
	for _, s := range t.files {
		folder := s.folder
		if folder == "." {
			folder = path.Base(root)
		}
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest {
				names[folder+"."+f.Name.Name] = true
			}
		}
	}
	return names
}

func TestPromisesHaveTests(t *testing.T) {
	verify(t, checkPromises, map[string]string{
		"a/a_test.go": "package a\n\nfunc TestFast() {}\n",
		"README.md": "# x\n## What it promises\n- **It is\nfast.** Very.\n- **It is small.**\n" +
			"## Other\n**no promise**\n",
		promises: "# x\n\n## README.md\n\n| Promise | Tests |\n|---|---|\n" +
			"| It is fast. | `a.TestFast` |\n" +
			"| It is slow. | `a.TestFast` |\n| Very. | `a.TestSlow` |\n| Other | trust us |\n",
	}, "README.md: It is small. has no row", "does not say It is slow.",
		"there is no test a.TestSlow", "no test for Other")
}
