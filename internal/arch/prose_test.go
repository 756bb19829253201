// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// proseColumns is where prose is wrapped, in comments and in Markdown. A tab of
// the indentation counts as one.
const proseColumns = 80

// checkWrapped finds comments that are too wide. The output of an example and
// text indented by a tab is no prose.
func checkWrapped(t *tree) (violations []string) {
	for _, s := range t.files {
		if within(s.folder, "examples/shop/stockpb") { // by protoc
			continue
		}
		output, n := false, 0
		for line := range strings.Lines(string(s.text)) {
			n++
			text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// ")
			output = comment && (output || strings.HasPrefix(text, "Output:"))
			if comment && !output && tooWide(line) {
				violations = append(violations, fmt.Sprintf("%s:%d: wrap the comment at %d columns", s.path, n, proseColumns))
			}
		}
	}
	return violations
}

// checkMarkdown finds Markdown that is too wide, except for tables, code and
// generated text.
func checkMarkdown(fsys fs.FS) (violations []string) {
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && skipped(d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		code, generated, n := false, false, 0
		for line := range strings.Lines(string(text)) {
			n++
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				code = !code
			}
			if mark, ok := strings.CutPrefix(line, "<!-- "); ok {
				generated = strings.Contains(mark, "start -->") || strings.Contains(mark, "begin -->")
			}
			prose := !code && !generated && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "![") && !strings.HasPrefix(line, "    ")
			if slices.ContainsFunc(conflict, func(mark string) bool { return strings.HasPrefix(line, mark) }) {
				violations = append(violations, fmt.Sprintf("%s:%d: resolve the conflict", name, n))
			}
			if prose && tooWide(line) {
				violations = append(violations, fmt.Sprintf("%s:%d: wrap the text at %d columns", name, n, proseColumns))
			}
		}
		return nil
	})
	return violations
}

// conflict are the beginnings of lines that a merge has left.
var conflict = []string{"<<<<<<< ", ">>>>>>> "}

// tooWide reports whether a line could have been wrapped and was not.
func tooWide(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	first, _, _ := strings.Cut(strings.TrimLeft(line, "\t /-*>"), " ")
	return utf8.RuneCountInString(line) > proseColumns && utf8.RuneCountInString(first) < proseColumns/2
}

func TestProseIsWrapped(t *testing.T) {
	wide, link := strings.Repeat("word ", 17)+"word", "https://example.org/"+strings.Repeat("x", proseColumns)
	tryOn(t, checkWrapped, []fixture{
		{"wide", map[string]string{"a.go": "// " + wide + "\npackage a\n"}, []string{"a.go:1"}},
		{"wide in a function", map[string]string{"a.go": "package a\n\nfunc a() {\n\t// " + wide + "\n}\n"}, []string{"a.go:4"}},
		{"code", map[string]string{"a.go": "//\t" + wide + "\npackage a\n"}, nil},
		{"a link", map[string]string{"a.go": "// " + link + "\npackage a\n"}, nil},
		{"output", map[string]string{"a_test.go": "package a\n\nfunc a() {\n\t// Output:\n\t// " + wide + "\n}\n"}, nil},
	})
	for text, want := range map[string]int{
		wide + "\n": 1, "- " + wide + "\n": 1, link + "\n": 0, "| " + wide + " |\n": 0, "```\n" + wide + "\n```\n": 0, "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n": 2,
		"<!-- bench:start -->\n" + wide + "\n<!-- bench:end -->\n": 0, "<!-- bench:start -->\n<!-- bench:end -->\n" + wide + "\n": 1,
	} {
		if got := checkMarkdown(fstest.MapFS{"docs/a.md": {Data: []byte(text)}}); len(got) != want {
			t.Errorf("%q: got %q, want %d violations", text, got, want)
		}
	}
	loaded, fsys := repository(t)
	report(t, checkWrapped(loaded))
	report(t, checkMarkdown(fsys))
}
