// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// vague finds names of tests that say when or for what list a test was written,
// not the behaviour it checks: a row, an issue, a regression.
var vague = regexp.MustCompile(`(Row|Issue|Bug|Case|Item|Step|Regression|Gauntlet)[A-Z]?\d|(Regression|Gauntlet|Bugfix)|^Test[A-Z]?\d+$`)

// spoken are words that have a plain technical term.
var spoken = map[string]string{
	"Tells": "Reports or Distinguishes", "Told": "Reported", "Says": "Reports", "Asks": "Calls", "Knows": "Has",
	"Nobody": "what does not happen", "Somebody": "what happens", "Debt": "Pending", "Goodbye": "Close",
}

// checkTestNames wants names of tests to state a behaviour in the words of the
// field.
func checkTestNames(t *tree) (violations []string) {
	for _, s := range t.files {
		if !s.isGo() || !s.isTest() {
			continue
		}
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			if vague.MatchString(f.Name.Name) {
				violations = append(violations, fmt.Sprintf("%s: %s does not name the behaviour", s.at(f), f.Name.Name))
			}
			for _, word := range wordsOf(f.Name.Name) {
				if better, ok := spoken[word]; ok {
					violations = append(violations, fmt.Sprintf("%s: %s: not %s, but %s", s.at(f), f.Name.Name, word, better))
				}
			}
		}
	}
	return violations
}

var word = regexp.MustCompile(`[A-Z][a-z]+|[A-Z]+|\d+`)

// wordsOf splits a name in camel case.
func wordsOf(name string) []string { return word.FindAllString(name, -1) }

func TestTestsAreNamedAfterTheirBehaviour(t *testing.T) {
	test := func(name string) map[string]string {
		return map[string]string{"a_test.go": "package a\n\nfunc " + name + "(t *testing.T) {}\n"}
	}
	tryOn(t, checkTestNames, []fixture{
		{"good", test("TestKeysAreEscapedLikeValues"), nil},
		{"a number that belongs to it", test("TestFlushSendsStatus200"), nil},
		{"a row", test("TestRow12"), []string{"TestRow12 does not name"}},
		{"a row of a list", test("TestRowA3KeepsLines"), []string{"TestRowA3"}},
		{"an issue", test("FuzzIssue7"), []string{"FuzzIssue7"}},
		{"history", test("TestFlushRegression"), []string{"TestFlushRegression"}},
		{"rows of a table", test("TestRowsAreMerged"), nil},
		{"a spoken word", test("TestLossIsToldOnce"), []string{"not Told, but Reported"}},
		{"not a test", map[string]string{"a_test.go": "package a\n\nfunc row12() {}\n", "a.go": "package a\n\nfunc TestRow1() {}\n"}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkTestNames(loaded))
}
