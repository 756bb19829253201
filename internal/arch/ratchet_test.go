// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "store the counts of the ratchet")

// maxColumns is the widest line of code, with tabs of 4 columns. Imports,
// tables and raw strings may be wider: a line that begins with a quotation mark
// or a brace, or that has a raw string, is taken for one of those.
const maxColumns = 100

// A wording is a phrase that readers must translate, and what to write. The
// phrases are matched without regard to case, as whole words.
type wording struct{ rule, phrases, instead string }

var wordings = []wording{
	{"pronoun", `that of|those of|of which|one that|the latter|if that`, "the noun, or two sentences"},
	{"word", `tells? of|is told|are told|tells? whether`, "report, return, is notified"},
	{"word", `nobody|somebody|has a say|who logs`, "the thing that acts"},
	{"word", `all the same|what is not|of one's own|of the user's|meanwhile`, "the plain statement"},
	{"word", `come by|comes by`, "execute, reach"},
	{"word", `put aside|puts aside`, "quarantine"},
	{"word", `a great deal`, "heavily, high-volume"},
	{"word", `truth value`, "boolean"},
	{"word", `in the making`, "being built"},
	{"word", `the far end`, "destination"},
	{"word", `least of many rounds`, "minimum of N rounds"},
	{"word", `all that is wrong at once`, "every error, joined"},
	{"word", `for ever`, "permanently, or until what happens"},
}

// A finding is a place that breaks a rule of the ratchet.
type finding struct{ rule, folder, at, instead string }

// checkRatchet finds wide lines of code, and wordings in comments and Markdown.
func checkRatchet(t *tree, fsys fs.FS) (all []finding) {
	expressions := make([]*regexp.Regexp, len(wordings))
	for i, w := range wordings {
		expressions[i] = regexp.MustCompile(`(?i)\b(` + w.phrases + `)\b`)
	}
	prose := func(folder, at, text string) {
		for i, w := range wordings {
			if found := expressions[i].FindString(text); found != "" {
				all = append(all, finding{w.rule, folder, fmt.Sprintf("%s: %q", at, found), w.instead})
			}
		}
	}
	for _, s := range t.files {
		if !s.isGo() || ast.IsGenerated(s.syntax) {
			continue
		}
		n := 0
		for line := range strings.Lines(string(s.text)) {
			n++
			text := strings.TrimSpace(line)
			at := fmt.Sprintf("%s:%d", s.path, n)
			if comment, ok := strings.CutPrefix(text, "//"); ok {
				prose(s.folder, at, comment)
			} else if columns(line) > maxColumns && !strings.ContainsRune(text, '`') && !strings.ContainsAny(text[:1], `"{`) {
				all = append(all, finding{"wide", s.folder, at, fmt.Sprintf("at most %d columns", maxColumns)})
			}
		}
	}
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && skipped(d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			prose(path.Dir(name), fmt.Sprintf("%s:%d", name, n), line)
		}
		return err
	})
	return all
}

// columns returns the width of a line, with tabs of 4 columns.
func columns(line string) int {
	return utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) + 3*strings.Count(line, "\t")
}

// counts are the findings of each rule and folder that are allowed: those that
// were there when the rule was made. They may only fall.
const counts = "testdata/ratchet.txt"

func countsOf(all []finding) map[string]int {
	n := map[string]int{}
	for _, f := range all {
		n[f.rule+" "+f.folder]++
	}
	return n
}

// compareCounts lists the findings of rules and folders that have more of them
// than allowed, and the rows that allow too many.
func compareCounts(all []finding, allowed map[string]int) (violations []string) {
	got := countsOf(all)
	for _, f := range all {
		if key := f.rule + " " + f.folder; got[key] > allowed[key] {
			violations = append(violations, fmt.Sprintf("%s: want %s (%s: %d, at most %d)", f.at, f.instead, key, got[key], allowed[key]))
		}
	}
	for key, n := range allowed {
		if got[key] < n {
			violations = append(violations, fmt.Sprintf("%s: %d, allowed are %d: run go test ./internal/arch -run Ratchet -update", key, got[key], n))
		}
	}
	return violations
}

func readCounts(t *testing.T) map[string]int {
	text, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var n int
		var rule, folder string
		if _, err := fmt.Sscan(line, &n, &rule, &folder); err != nil {
			t.Fatalf("%s: %q: %v", counts, line, err)
		}
		allowed[rule+" "+folder] = n
	}
	return allowed
}

func TestRatchet(t *testing.T) {
	bad := fstest.MapFS{
		"a.go": {Data: []byte("package a\n\n// The size is that of the file, for ever.\nvar a = " +
			strings.Repeat("1+", 50) + "1\nvar b = []string{\n\t\"" + strings.Repeat("x", 100) + "\",\n}\n")},
		"docs/b.md": {Data: []byte("Somebody reads.\n")},
	}
	loaded, err := load(bad)
	if err != nil {
		t.Fatal(err)
	}
	found := checkRatchet(loaded, bad)
	want := map[string]int{"pronoun .": 1, "word .": 1, "wide .": 1, "word docs": 1}
	if got := countsOf(found); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	compare(t, "one more and one less", compareCounts(found, map[string]int{"pronoun .": 1, "word .": 2, "wide .": 1}),
		[]string{"word .: 1, allowed are 2", "docs/b.md:1: \"Somebody\": want the thing that acts (word docs: 1, at most 0)"})

	repo, fsys := repository(t)
	all := checkRatchet(repo, fsys)
	if *update {
		var b strings.Builder
		n := countsOf(all)
		for _, key := range slices.Sorted(maps.Keys(n)) {
			fmt.Fprintln(&b, n[key], key)
		}
		if err := os.WriteFile(counts, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report(t, compareCounts(all, readCounts(t)))
}
