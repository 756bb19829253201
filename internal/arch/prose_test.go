// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// proseColumns is where prose is wrapped, in comments and in Markdown. A tab of
// the indentation counts as one.
const proseColumns = 80

var (
	begins  = regexp.MustCompile(`(start|begin) -->`) // of generated text
	noProse = regexp.MustCompile(`^(\||!\[|    )`)
)

// checkWrapped finds comments and Markdown that are too wide. The output of an
// example, tables, code, generated text and text indented by a tab is no prose.
func checkWrapped(t *tree) (v faults) {
	for _, s := range t.files {
		if ast.IsGenerated(s.syntax) {
			continue
		}
		n, output := 0, false
		for line := range strings.Lines(s.text) {
			n++
			text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// ")
			output = comment && (output || strings.HasPrefix(text, "Output:"))
			if comment && !output && tooWide(line) {
				v.add("%s:%d: wrap the comment at %d columns", s.path, n, proseColumns)
			}
		}
	}
	for name, text := range t.other {
		if path.Ext(name) != ".md" {
			continue
		}
		n, code, generated := 0, false, false
		for line := range strings.Lines(text) {
			n++
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				code = !code
			}
			if mark, ok := strings.CutPrefix(line, "<!-- "); ok {
				generated = begins.MatchString(mark)
			}
			if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
				v.add("%s:%d: resolve the conflict", name, n)
			}
			if !code && !generated && !noProse.MatchString(line) && tooWide(line) {
				v.add("%s:%d: wrap the text at %d columns", name, n, proseColumns)
			}
		}
	}
	return v
}

// tooWide reports whether a line could have been wrapped and was not.
func tooWide(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	first, _, _ := strings.Cut(strings.TrimLeft(line, "\t /-*>"), " ")
	return utf8.RuneCountInString(line) > proseColumns && len(first) < proseColumns/2
}

func TestProseIsWrapped(t *testing.T) {
	wide := strings.Repeat("word ", 17) + "word\n"
	verify(t, checkWrapped, map[string]string{
		"a.go":      "package a\n\nfunc a() {\n\t// " + wide + "}\n",
		"docs/a.md": "- " + wide + "```\n" + wide + "```\n| " + wide + "<<<<<<< HEAD\n",
	}, "a.go:4: wrap", "docs/a.md:1: wrap", "docs/a.md:6: resolve")
}
