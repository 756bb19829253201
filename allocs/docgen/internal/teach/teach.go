// SPDX-License-Identifier: Apache-2.0

// Package teach writes the parts of docs/zero-alloc.md that come from other
// files of the repository: the examples of the checks and rewrites from their
// test data, the catalogue of reasons, and the matrix from the result of the
// gate. So the document's examples have been tested, and stay up to date.
package teach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/nib-log/nib/allocs/analysis"
	"github.com/nib-log/nib/allocs/analysis/rewrite"
	"github.com/nib-log/nib/allocs/internal/why"
)

// Section is a part of the document, between <!-- name: begin --> and
// <!-- name: end -->.
type Section struct{ Name, Text string }

// Sections returns the parts that come from the module allocs, whose directory
// is dir.
func Sections(dir string) ([]Section, error) {
	var out []Section
	var errs []error
	for _, a := range analysis.Analyzers {
		text, err := check(filepath.Join(dir, "analysis", "testdata", "src", a.Name, "example.go"))
		out, errs = append(out, Section{"check " + a.Name, text}), append(errs, err)
	}
	text, err := rewrites(filepath.Join(dir, "analysis", "rewrite", "testdata", "src"))
	return append(out, Section{"rewrites", text}, Section{"catalogue", catalogue()}), errors.Join(append(errs, err)...)
}

// Replace puts a section into the document.
func Replace(document string, s Section) (string, error) {
	begin, end := "<!-- "+s.Name+": begin -->\n", "<!-- "+s.Name+": end -->"
	i := strings.Index(document, begin)
	if i < 0 {
		return "", fmt.Errorf("there is no %q", strings.TrimSpace(begin))
	}
	i += len(begin)
	j := strings.Index(document[i:], end)
	if j < 0 {
		return "", fmt.Errorf("there is no %q", end)
	}
	return document[:i] + s.Text + document[i+j:], nil
}

// check returns the example of a check, with its reports as comments, and the
// result of the suggested fix.
func check(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	out := code("go", reports(body(string(text))))
	fixed, err := os.ReadFile(file + ".golden")
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	var lines []string
	for _, h := range diff(plain(body(string(text))), plain(body(string(fixed)))) {
		lines = append(lines, h.String())
	}
	return out + "\nThe suggested fix:\n\n" + code("diff", strings.Join(lines, "\n")), err
}

// body returns a file without its licence and package clause.
func body(text string) string {
	_, text, _ = strings.Cut(text, "\npackage ")
	_, text, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(text)
}

func code(language, text string) string { return "```" + language + "\n" + text + "\n```\n" }

var want = regexp.MustCompile("\\s*// want (`[^`]*`|\"[^\"]*\")")

// reports turns the expectations of a test into the reports of the check.
func reports(text string) string {
	return want.ReplaceAllStringFunc(text, func(comment string) string {
		_, pattern, _ := strings.Cut(comment, "want ")
		message, err := strconv.Unquote(pattern)
		if err != nil {
			return comment
		}
		return " // ✗ " + strings.ReplaceAll(message, `\`, "")
	})
}

// plain removes the expectations of a test.
func plain(text string) string { return want.ReplaceAllString(text, "") }

// rewrites shows the first example of each rewrite.
func rewrites(dir string) (string, error) {
	var b strings.Builder
	for _, a := range rewrite.Analyzers {
		name := filepath.Join(dir, a.Name, a.Name+".go")
		before, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		after, err := os.ReadFile(name + ".golden")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "**%s** — %s\n\n", a.Name, a.Doc)
		declared := ""
		for _, h := range diff(string(before), string(after)) {
			if len(h.del) == 0 && strings.HasPrefix(h.add[0], "var ") {
				declared = h.clean().String() + "\n"
			}
			if h = h.first(3); want.MatchString(strings.Join(h.del, "\n")) {
				b.WriteString(code("diff", declared+h.clean().String()) + "\n")
				break
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func catalogue() string {
	var b strings.Builder
	b.WriteString("| pattern | why | what helps |\n| --- | --- | --- |\n")
	for _, p := range why.Catalogue() {
		reason := p.Reason
		if reason == "" {
			reason = "(said with the names of the line)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Name, cell(reason), cell(p.Fix))
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
