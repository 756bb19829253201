// SPDX-License-Identifier: Apache-2.0

package arch

import (
	_ "embed"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "store the counts of the ratchet where they are lower")

// Prose in comments and in Markdown is wrapped at 80 columns, where a tab
// counts as one. Lines of code have 100 at most, with tabs of 4.
const proseColumns, codeColumns = 80, 100

var (
	// Raw strings and tables may be wider: a line that begins with a quotation
	// mark or a brace is taken for a row of a table.
	mayBeWide = regexp.MustCompile(`^\s*(//|["{])`)
	noProse   = regexp.MustCompile(`^(\||!\[|    )`)
	begins    = regexp.MustCompile(`(start|begin) -->`) // of generated text
	// Phrases are found across the lines of a comment.
	commentMarks = regexp.MustCompile(`(?m)^\s*//`)
)

// words has a row for each list of phrases that readers must translate: the
// rule, the phrases, which match whole words in comments, Markdown and strings,
// and what to write instead.
//
//go:embed testdata/words.txt
var words string

// wordings are the rows of words, and phrases has a group for each of them.
var wordings, phrases = func() (rows [][]string, all *regexp.Regexp) {
	var groups []string
	for row := range strings.Lines(words) {
		cells := strings.Split(strings.TrimSpace(row), " | ")
		rows = append(rows, cells)
		group := strings.ReplaceAll(strings.ReplaceAll(cells[1], ", ", "|"), " ", `\s+`)
		groups = append(groups, "("+group+")")
	}
	return rows, regexp.MustCompile(`(?i)\b(?:` + strings.Join(groups, "|") + `)\b`)
}()

// A tally has the findings of a tree by rule and folder, such as "wide sink",
// and the lines of comments and Markdown by folder.
type tally struct {
	found map[string]faults
	lines map[string]int
}

func (a *tally) add(rule, file string, line int, advice string) {
	key := rule + " " + path.Dir(file)
	a.found[key] = append(a.found[key], fmt.Sprintf("%s:%d: want %s", file, line, advice))
}

// read finds phrases in a text that begins in some line of a file.
func (a *tally) read(file string, line int, text string) {
	for _, m := range phrases.FindAllStringSubmatchIndex(text, -1) {
		for i, w := range wordings {
			if m[2*i+2] >= 0 {
				at := line + strings.Count(text[:m[0]], "\n")
				a.add(w[0], file, at, fmt.Sprintf("%s, not %q", w[2], text[m[0]:m[1]]))
			}
		}
	}
}

// readGo reads comments, and strings except in tests.
func (a *tally) readGo(s *source) {
	for _, group := range s.syntax.Comments {
		start, end := fset.Position(group.Pos()), fset.Position(group.End())
		a.lines[s.folder] += end.Line - start.Line + 1
		text := commentMarks.ReplaceAllString(s.text[start.Offset:end.Offset], "")
		a.read(s.path, start.Line, text)
	}
	raw := map[int]bool{} // lines
	for n := range ast.Preorder(s.syntax) {
		x, ok := n.(*ast.BasicLit)
		if !ok || x.Kind != token.STRING {
			continue
		}
		if !s.isTest {
			a.read(s.path, line(x.Pos()), x.Value)
		}
		for i := line(x.Pos()); x.Value[0] == '`' && i <= line(x.End()); i++ {
			raw[i] = true
		}
	}
	output := false
	for i, line := range strings.Split(s.text, "\n") {
		text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// ")
		output = comment && (output || strings.HasPrefix(text, "Output:"))
		columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
		if comment && !output && isUnwrapped(line) {
			a.add("unwrapped", s.path, i+1, "prose wrapped at 80 columns")
		} else if columns > codeColumns && !raw[i+1] && !mayBeWide.MatchString(line) {
			a.add("wide", s.path, i+1, "at most 100 columns")
		}
	}
}

// readMarkdown reads a document. Tables, code, generated text and indented text
// are no prose.
func (a *tally) readMarkdown(name, text string) {
	a.lines[path.Dir(name)] += strings.Count(text, "\n")
	a.read(name, 1, text)
	code, generated := false, false
	for i, line := range strings.Split(text, "\n") {
		code = code != strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		if strings.HasPrefix(line, "<!-- ") {
			generated = begins.MatchString(line)
		}
		if !code && !generated && !noProse.MatchString(line) && isUnwrapped(line) {
			a.add("unwrapped", name, i+1, "prose wrapped at 80 columns")
		}
	}
}

// isUnwrapped reports whether a line of prose could have been wrapped.
func isUnwrapped(line string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(line, "\t /-*>"), " ")
	return utf8.RuneCountInString(line) > proseColumns && len(first) < proseColumns/2
}

// findings returns wide lines, phrases and exported names.
func findings(t *tree) map[string]faults {
	a := &tally{map[string]faults{}, map[string]int{}}
	for _, s := range t.files {
		if !ast.IsGenerated(s.syntax) {
			a.readGo(s)
		}
	}
	for name, text := range t.text {
		if path.Ext(name) == ".md" {
			a.readMarkdown(name, text)
		}
	}
	for folder, n := range a.lines { // 3 pronouns in 1,000 lines do not count
		if key := "pronoun " + folder; len(a.found[key])*1000 <= 3*n {
			delete(a.found, key)
		}
	}
	for _, name := range exported(t) {
		folder, _, _ := strings.Cut(name[1:], ".")
		a.add("exported", name[:1]+folder+"/", 0, "fewer names")
	}
	return a.found
}

// stored has the numbers of exported names, and of findings that are allowed.
const stored = "testdata/ratchet.txt"

// compare returns the findings of rules and folders that have more of them than
// allowed, and the numbers to store. These are not higher than before, except
// for exported names, or if all are new.
func compare(found map[string]faults, allowed map[string]int) (next map[string]int, v faults) {
	next = map[string]int{}
	for key, places := range found {
		n, most := len(places), allowed[key]
		if n > most && !strings.HasPrefix(key, "exported ") && len(allowed) > 0 {
			for _, p := range places {
				v.add("%s (%s: %d, at most %d)", p, key, n, most)
			}
			n = most
		}
		if n > 0 {
			next[key] = n
		}
	}
	return next, v
}

func TestRatchet(t *testing.T) {
	bad, want := badTree(t)
	next, v := compare(findings(bad), map[string]int{"word .": 3})
	mustFind(t, v, want...)
	if want := map[string]int{"word .": 2, "exported x": 4}; !maps.Equal(next, want) {
		t.Errorf("got new counts %v, want %v", next, want)
	}

	old, _ := os.ReadFile(stored)
	allowed, text := map[string]int{}, ""
	for line := range strings.Lines(string(old)) {
		n, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		allowed[key], _ = strconv.Atoi(n)
	}
	next, v = compare(findings(repository()), allowed)
	mustFind(t, v)
	for _, key := range slices.Sorted(maps.Keys(next)) {
		text += fmt.Sprintln(next[key], key)
	}
	if text != string(old) && (!*update || os.WriteFile(stored, []byte(text), 0o644) != nil) {
		t.Error("other counts are stored: run go test ./internal/arch -run Ratchet -update")
	}
}

// promises is the page of all promises. Its tables that begin with the column
// "Promise" have the tests that fail if a promise is broken in the last column.
// Below a heading that is the name of a document, rows quote that document.
const promises = "docs/reliability.md"

var (
	testName = regexp.MustCompile("`([^`]+)`")
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	marks    = strings.NewReplacer("*", "", "`", "")

	// promising are the sections in which each bold phrase needs a row.
	promising = regexp.MustCompile(`(?s)\n#+ (?:What it promises|What is promised)\n(.*?)(\n#|$)`)
	documents = regexp.MustCompile(`^(README|docs/[^/]*)\.md$`)
)

// plain returns the text without marks and line breaks.
func plain(text string) string { return strings.Join(strings.Fields(marks.Replace(text)), " ") }

// checkPromises compares the page with the documents and the tests: a test is
// "sink/file.TestLimits", in the root package "nib.TestX".
func checkPromises(t *tree) (v faults) {
	phrases, quoted, inTable := "", promises, false
	said := plain(t.text[quoted])
	for line := range strings.Lines(t.text[promises]) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		phrase := plain(cells[0])
		switch {
		case strings.HasPrefix(line, "#"):
			if quoted = strings.TrimLeft(phrase, "# "); t.text[quoted] == "" {
				quoted = promises
			}
			said = plain(t.text[quoted])
		case !strings.HasPrefix(line, "|") || phrase == "Promise":
			inTable = phrase == "Promise"
		case inTable && !strings.HasPrefix(phrase, "---"):
			phrases += phrase + "\n"
			if !strings.Contains(said, phrase) {
				v.add("%s: %s does not say %s", promises, quoted, phrase)
			}
			names := testName.FindAllStringSubmatch(cells[len(cells)-1], -1)
			if len(names) == 0 {
				v.add("%s: no test for %s", promises, phrase)
			}
			for _, name := range names {
				if !t.hasTest(name[1]) {
					v.add("%s: there is no test %s, for %s", promises, name[1], phrase)
				}
			}
		}
	}
	for name, text := range t.text {
		if !documents.MatchString(name) {
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

// hasTest reports whether there is a function of a test.
func (t *tree) hasTest(name string) bool {
	dot := strings.LastIndex(name, ".")
	return slices.ContainsFunc(t.files, func(s *source) bool {
		folder := strings.Replace("/"+s.folder, "/.", "/"+path.Base(root), 1)
		return s.isTest && folder == "/"+name[:max(dot, 0)] &&
			strings.Contains(s.text, "\nfunc "+name[dot+1:]+"(")
	})
}

func TestPromisesHaveTests(t *testing.T) { verify(t, checkPromises) }
