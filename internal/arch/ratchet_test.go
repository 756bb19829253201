// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "store the counts of the ratchet where they are lower")

// maxColumns is the widest line of code, with tabs of 4 columns. Imports,
// tables and raw strings may be wider. A line that begins with a quotation mark
// or a brace is taken for a row of a table. Comments are wrapped at 80 columns.
const maxColumns = 100

var mayBeWide = regexp.MustCompile(`^\s*(//|["{])`)

// pronounsPer1000 is how many pronouns in place of nouns the comments and
// documents of a folder may have in 1,000 lines before they are counted.
const pronounsPer1000 = 3

// A wording is a list of phrases that readers must translate, and what to write
// instead. The phrases match whole words in comments, Markdown and strings.
type wording struct{ rule, phrases, instead string }

var wordings = []wording{
	{"pronoun", `that of|those of|of which|one that|the latter|if that`, "the noun, or two sentences"},
	{"word", `tells? of|is told|are told|tells? whether`, "report, return, is notified"},
	{"word", `nobody|somebody|has a say|who logs`, "the thing that acts"},
	{"word", `all the same|what is not|of one's own|of the user's|meanwhile`, "the plain statement"},
	{"word", `comes? by`, "execute, reach"},
	{"word", `hands? on|brings? to|passes? on`, "write, deliver, forward"},
	{"word", `what is lost|lost to`, "dropped, or lost (counted in …)"},
	{"word", `puts? aside`, "quarantine"},
	{"word", `bury|buries|buried`, "dead-letter"},
	{"word", `voidances?`, "voidClaim"},
	{"word", `rouses?|lays? down`, "prefetch, evict"},
	{"word", `a great deal`, "heavily, high-volume"},
	{"word", `truth values?`, "boolean"},
	{"word", `in the making`, "being built"},
	{"word", `the far end|what stands behind`, "destination"},
	{"word", `how long it takes|a speed at which`, "latency, duration"},
	{"word", `least of many rounds`, "minimum of N rounds"},
	{"word", `all that is wrong at once`, "every error, joined"},
	{"word", `dead once finished`, "must not be used after Msg, Msgf, MsgFunc or Send"},
	{"word", `gauntlet`, "the behaviour"},
	{"word", `for ever`, "permanently, or until what happens"},
}

// anyPhrase has a group for each wording.
var anyPhrase = func() *regexp.Regexp {
	var groups []string
	for _, w := range wordings {
		groups = append(groups, "("+strings.ReplaceAll(w.phrases, " ", `\s+`)+")")
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(groups, "|") + `)\b`)
}()

// A finding is a place that breaks a rule of the ratchet.
type finding struct{ rule, folder, at, instead string }

// A tally collects the findings of a tree.
type tally struct {
	found []finding
	lines map[string]int // of comments and Markdown, by folder
}

// read finds phrases in a text that begins in some line of a file.
func (a *tally) read(file string, line int, text string) {
	for _, m := range anyPhrase.FindAllStringSubmatchIndex(text, -1) {
		for i, w := range wordings {
			if m[2*i+2] >= 0 {
				phrase := strings.Join(strings.Fields(text[m[0]:m[1]]), " ")
				at := fmt.Sprintf("%s:%d: %q", file, line+strings.Count(text[:m[0]], "\n"), phrase)
				a.found = append(a.found, finding{w.rule, path.Dir(file), at, w.instead})
			}
		}
	}
}

// commentMarks are removed, so that phrases are found across lines.
var commentMarks = regexp.MustCompile(`(?m)^\s*//`)

func (a *tally) readGo(s *source) {
	for _, group := range s.syntax.Comments {
		start, end := s.fset.Position(group.Pos()), s.fset.Position(group.End())
		a.lines[s.folder] += end.Line - start.Line + 1
		text := commentMarks.ReplaceAllString(s.text[start.Offset:end.Offset], "")
		a.read(s.path, start.Line, text)
	}
	raw := map[int]bool{} // lines in imports and raw strings
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		x, text := n.(*ast.BasicLit)
		if text && x.Kind == token.STRING && !s.isTest {
			a.read(s.path, s.line(x.Pos()), x.Value)
		}
		if _, ok := n.(*ast.ImportSpec); ok || text && x.Value[0] == '`' {
			for line := s.line(n.Pos()); line <= s.line(n.End()); line++ {
				raw[line] = true
			}
		}
		return true
	})
	n := 0
	for line := range strings.Lines(s.text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
		if columns > maxColumns && !raw[n] && !mayBeWide.MatchString(line) {
			at := fmt.Sprintf("%s:%d", s.path, n)
			a.found = append(a.found, finding{"wide", s.folder, at, "at most 100 columns"})
		}
	}
}

// findings returns all findings of a tree: wide lines, phrases, and the
// exported names.
func findings(t *tree) []finding {
	a := &tally{lines: map[string]int{}}
	for _, s := range t.files {
		if !ast.IsGenerated(s.syntax) && s.path != "internal/arch/ratchet_test.go" {
			a.readGo(s)
		}
	}
	for name, text := range t.other {
		if path.Ext(name) == ".md" {
			a.lines[path.Dir(name)] += strings.Count(text, "\n")
			a.read(name, 1, text)
		}
	}
	for _, name := range exported(t) {
		folder, _, _ := strings.Cut(name[1:], ".")
		a.found = append(a.found, finding{"exported", name[:1] + folder, name, "fewer names"})
	}
	counts := countsOf(a.found)
	return slices.DeleteFunc(a.found, func(f finding) bool {
		few := counts["pronoun "+f.folder]*1000 <= pronounsPer1000*a.lines[f.folder]
		return f.rule == "pronoun" && few
	})
}

// stored has the findings of each rule and folder that are allowed: those that
// were there when the rule was made, and the number of exported names.
const stored = "testdata/ratchet.txt"

func countsOf(all []finding) map[string]int {
	n := map[string]int{}
	for _, f := range all {
		n[f.rule+" "+f.folder]++
	}
	return n
}

// compareCounts lists the findings of rules and folders that have more of them
// than allowed, and the rows that allow too many.
func compareCounts(all []finding, allowed map[string]int) (v faults) {
	got := countsOf(all)
	for _, f := range all {
		key := f.rule + " " + f.folder
		if got[key] > allowed[key] && !mayRise(key) {
			v.add("%s: want %s (%s: %d, at most %d)", f.at, f.instead, key, got[key], allowed[key])
		}
	}
	keys := maps.Clone(got)
	maps.Copy(keys, allowed)
	for key := range keys {
		if n := got[key]; n < allowed[key] || n > allowed[key] && mayRise(key) {
			v.add("%s: %d, stored are %d: run go test ./internal/arch -run Ratchet -update",
				key, n, allowed[key])
		}
	}
	return v
}

// mayRise reports whether -update also stores a higher count.
func mayRise(key string) bool { return strings.HasPrefix(key, "exported ") }

// lowered returns the counts to store: a count that has risen stays, except for
// the number of exported names. Without stored counts all are new.
func lowered(got, allowed map[string]int) map[string]int {
	next := maps.Clone(got)
	for key, n := range got {
		if len(allowed) > 0 && n > allowed[key] && !mayRise(key) {
			next[key] = allowed[key]
		}
	}
	maps.DeleteFunc(next, func(_ string, n int) bool { return n == 0 })
	return next
}

func readCounts(t *testing.T) map[string]int {
	text, err := os.ReadFile(stored)
	if err != nil && !*update {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var n int
		var rule, folder string
		if _, err := fmt.Sscan(line, &n, &rule, &folder); err != nil {
			t.Fatalf("%s: %q: after a conflict, delete the file and run with -update", stored, line)
		}
		allowed[rule+" "+folder] = n
	}
	return allowed
}

func TestRatchet(t *testing.T) {
	bad := findings(treeOf(t, map[string]string{
		"a.go": "package a\n\n// The size is that\n// of the file, for ever.\nvar a = \"who logs\" +\n\t" +
			strings.Repeat("a+", 50) + "a\nvar b = []string{\n\t`" + strings.Repeat("x", 100) + "`,\n}\n",
		"docs/b.md": "Somebody reads one that is read.\n" + strings.Repeat("\n", 333),
		"x/c.go":    "package x\nfunc F() {}\n",
	}))
	mustFind(t, compareCounts(bad, map[string]int{"pronoun .": 1, "word .": 3}),
		`a.go:6: want at most 100 columns (wide .: 1, at most 0)`, "word .: 2, stored are 3: run go test",
		`docs/b.md:1: "Somebody": want the thing that acts (word docs: 1, at most 0)`, "exported x: 1, stored are 0")
	mustFind(t, compareCounts(bad[:1], nil), `a.go:3: "that of": want the noun, or two sentences`)
	got := map[string]int{"word a": 2, "word b": 1, "exported c": 3}
	next := lowered(got, map[string]int{"word a": 1, "word b": 4})
	if want := map[string]int{"word a": 1, "word b": 1, "exported c": 3}; !maps.Equal(next, want) {
		t.Errorf("got new counts %v, want %v", next, want)
	}

	all, allowed := findings(loaded(t)), readCounts(t)
	if *update {
		allowed = lowered(countsOf(all), allowed)
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(allowed)) {
			fmt.Fprintln(&b, allowed[key], key)
		}
		if err := os.WriteFile(stored, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report(t, compareCounts(all, allowed))
}
