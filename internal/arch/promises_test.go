// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// promises is the page of all promises. Its tables that begin with the column
// "Promise" have the tests that fail if a promise is broken in the last column.
// Below a heading that is the name of a document, rows quote that document.
const promises = "docs/reliability.md"

var (
	heading  = regexp.MustCompile(`^#+ (.*)$`)
	testName = regexp.MustCompile("`([^`]+)`")
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)

	// promising are the sections in which each bold phrase needs a row.
	promising = regexp.MustCompile(`(?s)\n#+ (?:What it promises|What is promised)\n(.*?)(\n#|$)`)
)

// A promise is a row of the page.
type promise struct {
	document string // the quoted document, or the page
	phrase   string
	tests    []string
}

// promisesOf returns the rows of the page.
func promisesOf(text string, isDocument func(string) bool) (list []promise) {
	document, inTable := promises, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			document = promises
			if isDocument(m[1]) {
				document = m[1]
			}
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		switch phrase := plain(cells[0]); {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case phrase == "Promise":
			inTable = true
		case inTable && !strings.HasPrefix(phrase, "---"):
			p := promise{document: document, phrase: phrase}
			for _, m := range testName.FindAllStringSubmatch(cells[len(cells)-1], -1) {
				p.tests = append(p.tests, m[1])
			}
			list = append(list, p)
		}
	}
	return list
}

// checkPromises compares the page with the documents and the tests: a test is
// "sink/file.TestLimits", in the root package "nib.TestX".
func checkPromises(t *tree) (v faults) {
	tests, phrases := testFunctions(t), ""
	isDocument := func(name string) bool { return t.other[name] != "" }
	for _, p := range promisesOf(t.other[promises], isDocument) {
		phrases += p.phrase + "\n"
		if !strings.Contains(plain(t.other[p.document]), p.phrase) {
			v.add("%s: %s does not say %s", promises, p.document, p.phrase)
		}
		if len(p.tests) == 0 {
			v.add("%s: no test for %s", promises, p.phrase)
		}
		for _, name := range p.tests {
			if !tests[name] {
				v.add("%s: there is no test %s, for %s", promises, name, p.phrase)
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
				if !strings.Contains(phrases, plain(m[1])) {
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
		promises: "# x\n\n| Promise | Limits | Tests |\n|---|---|---|\n" +
			"| It is fast. | Always | `a.TestFast` |\n" +
			"\n| Case | Count |\n|---|---|\n| `a.TestNone` | 3 |\n\n### README.md\n\n" +
			"| Promise | Tests |\n|---|---|\n" +
			"| It is slow. | `a.TestFast` |\n| Very. | `a.TestSlow` |\n| Other | trust us |\n",
	}, "README.md: It is small. has no row", "README.md does not say It is slow.",
		"there is no test a.TestSlow", "no test for Other")
}
