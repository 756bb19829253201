// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"strings"
	"testing"
)

// sleepers are the folders and test files that may sleep, each for a reason.
var sleepers = map[string]string{
	"e2e":                             "real processes, killed at random times",
	"dest/elastic/server_test.go":     "the server of tests that are in bubbles of testing/synctest",
	"dest/otlp/otlptest/bed_test.go":  "the server of tests that are in bubbles of testing/synctest",
	"sink/spool/pause_linux_test.go":  "a process that logs at the rate of a busy service",
	"sink/spool/power_linux_test.go":  "a process that logs until the power of a real disk is cut",
	"sink/stdout/child_linux_test.go": "a process that logs at a rate",
	"sink/stdout/e2e_linux_test.go":   "a slow reader of a real pipe",
}

// checkSleeps finds tests that sleep: they fail on a slow machine, or take
// longer than needed. In a bubble of testing/synctest the time is not real, and
// a receive from time.After among the cases of a select is a limit.
func checkSleeps(t *tree, exceptions map[string]string) (v faults) {
	unused := maps.Clone(exceptions)
	for _, s := range t.files {
		excepted := false
		for name := range exceptions {
			if s.isTest && within(s.path, name) {
				excepted = true
				delete(unused, name)
			}
		}
		if !s.isTest || excepted {
			continue
		}
		inBubbles := strings.Contains(s.text, "\t\"testing/synctest\"\n")
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && inBubbles && !strings.HasPrefix(f.Name.Name, "Test") {
				continue // called in a bubble
			}
			cases := map[ast.Node]bool{} // of select
			ast.Inspect(d, func(n ast.Node) bool {
				if x, ok := n.(*ast.CommClause); ok {
					cases[x.Comm] = true
				}
				if sleeps(n) && !cases[n] {
					v = append(v, s.at(n)+": use testing/synctest or internal/await, no sleep")
				}
				return !isCall(n, "synctest", "Test")
			})
		}
	}
	for name := range unused {
		v = append(v, name+": the exception is not needed any more")
	}
	return v
}

// sleeps reports whether a node sleeps or makes a ticker.
func sleeps(n ast.Node) bool {
	if x, ok := n.(*ast.ExprStmt); ok {
		receive, ok := x.X.(*ast.UnaryExpr)
		return ok && receive.Op == token.ARROW && isCall(receive.X, "time", "After")
	}
	return isCall(n, "time", "Sleep", "Tick", "NewTicker")
}

// isCall reports whether a node calls a function of a package.
func isCall(n ast.Node, pkg string, functions ...string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := selected(call.Fun)
	for _, f := range functions {
		if name == pkg+"."+f {
			return true
		}
	}
	return false
}

// selected returns "x.Name" for a selector of an identifier.
func selected(n ast.Node) string {
	if f, ok := n.(*ast.SelectorExpr); ok {
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// checkWakes finds sleeps of a test in a bubble of testing/synctest after which
// it does not wait for the goroutines whose timers end at the same time.
func checkWakes(t *tree) (v faults) {
	for _, s := range t.files {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if !isCall(n, "synctest", "Test") {
				return s.isTest
			}
			body := n.(*ast.CallExpr).Args[1]
			ast.Inspect(body, func(n ast.Node) bool {
				if isCall(n, "time", "Sleep") {
					v = append(v, s.at(n)+": use await.Sleep, which waits for woken goroutines")
				}
				f, ok := n.(*ast.FuncLit)
				return !ok || f == body // or in a goroutine of its own, perhaps
			})
			return false
		})
	}
	return v
}

// vague finds names of tests that say when or for what list a test was written,
// not the behaviour it checks, and words that have a plain technical term.
var vague = regexp.MustCompile(`^(Test|Fuzz).*((Row|Issue|Bug|Case|Item|Step)[A-Z]?\d|Regression|Gauntlet|Bugfix)` +
	`|^Test[A-Z]?\d+$|^Test.*(Tells|Told|Says|Asks|Knows|Nobody|Somebody|Debt|Goodbye)([A-Z]|$)`)

func checkTestNames(t *tree) (v faults) {
	for _, s := range t.files {
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && s.isTest && vague.MatchString(f.Name.Name) {
				v.add("%s: %s: name the behaviour, in plain terms", s.at(f), f.Name.Name)
			}
		}
	}
	return v
}

func TestTestsDoNotSleep(t *testing.T) {
	bad := treeOf(t, map[string]string{
		"a_test.go": "package a\n\nfunc TestA() {\n\ttime.Sleep(1)\n\t<-time.After(1)\n" +
			"\tsynctest.Test(t, func() { time.Sleep(1) })\n" +
			"\tselect {\n\tcase <-time.After(1):\n\t}\n}\n",
		"e2e/a_test.go": "package a\n\nfunc TestA() {\n\ttime.Sleep(1)\n}\n",
	})
	mustFind(t, checkSleeps(bad, map[string]string{"e2e": "a reason", "x": "a reason"}),
		"a_test.go:4", "a_test.go:5", "x: the exception is not needed")
	report(t, checkSleeps(loaded(t), sleepers))
}

func TestTestsWaitAfterASleep(t *testing.T) {
	verify(t, checkWakes, map[string]string{
		"a_test.go": "package a\n\nfunc TestA() {\n\tsynctest.Test(t, func() {\n\t\ttime.Sleep(1)\n" +
			"\t\tgo func() { time.Sleep(1) }()\n\t})\n}\n",
	}, "a_test.go:5")
}

func TestTestsAreNamedAfterTheirBehaviour(t *testing.T) {
	verify(t, checkTestNames, map[string]string{
		"a_test.go": "package a\n\nfunc TestRowA3() {}\n\nfunc TestLossIsToldOnce() {}\n\nfunc TestStatus200() {}\n",
	}, "TestRowA3", "TestLossIsToldOnce")
}
