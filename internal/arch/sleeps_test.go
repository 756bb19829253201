// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// mayWait are the folders whose tests run real processes: they are killed at
// random times and log at a pace.
var mayWait = []string{"e2e", "bench"}

// sleepers are the other test files that may sleep, each for a reason.
var sleepers = map[string]string{
	"dest/elastic/server_test.go":     "the server of tests that are in bubbles of testing/synctest",
	"dest/otlp/otlptest/bed_test.go":  "the server of tests that are in bubbles of testing/synctest",
	"sink/spool/pause_linux_test.go":  "a process that logs at the rate of a busy service, to measure pauses",
	"sink/spool/power_linux_test.go":  "a process that logs until the power of a real disk is cut",
	"sink/stdout/child_linux_test.go": "a process that logs at a rate",
	"sink/stdout/e2e_linux_test.go":   "a slow reader of a real pipe",
}

// checkSleeps finds tests that sleep: they fail on a slow machine, or take
// longer than needed. In a bubble of testing/synctest the time is not real, and
// a receive from time.After among the cases of a select is a limit.
func checkSleeps(t *tree) (violations []string) {
	for _, s := range t.files {
		if !s.isGo() || !s.isTest() || sleepers[s.path] != "" || slices.ContainsFunc(mayWait, func(top string) bool { return within(s.folder, top) }) {
			continue
		}
		paths, _ := s.imports()
		inBubbles := slices.Contains(paths, "testing/synctest")
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); inBubbles && ok && !strings.HasPrefix(f.Name.Name, "Test") {
				continue // called in a bubble
			}
			cases := map[ast.Node]bool{} // of select
			ast.Inspect(d, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.CommClause:
					cases[x.Comm] = true
				case *ast.CallExpr:
					if isCall(x, "synctest", "Test") {
						return false
					}
				}
				if sleeps(n) && !cases[n] {
					violations = append(violations, s.at(n)+": a test does not sleep: use testing/synctest, a channel or internal/await")
				}
				return true
			})
		}
	}
	return violations
}

// checkWakes finds sleeps of a test in a bubble of testing/synctest after which
// it does not wait for the goroutines whose timers end at the same time.
func checkWakes(t *tree) (violations []string) {
	for _, s := range t.files {
		if !s.isGo() || !s.isTest() {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if test, ok := n.(*ast.CallExpr); ok && isCall(test, "synctest", "Test") && len(test.Args) == 2 {
				ast.Inspect(test.Args[1], func(n ast.Node) bool {
					if f, ok := n.(*ast.FuncLit); ok && f != test.Args[1] {
						return false // in a goroutine of its own, perhaps
					}
					if call, ok := n.(*ast.CallExpr); ok && isCall(call, "time", "Sleep") {
						violations = append(violations, s.at(n)+": other goroutines may wake up at the same time: use await.Sleep, which waits for them")
					}
					return true
				})
			}
			return true
		})
	}
	return violations
}

// sleeps reports whether a node sleeps or makes a ticker.
func sleeps(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.CallExpr:
		return isCall(x, "time", "Sleep") || isCall(x, "time", "Tick") || isCall(x, "time", "NewTicker")
	case *ast.ExprStmt:
		receive, ok := x.X.(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW {
			return false
		}
		call, ok := receive.X.(*ast.CallExpr)
		return ok && isCall(call, "time", "After")
	}
	return false
}

// isCall reports whether a call is one of a function of a package.
func isCall(call *ast.CallExpr, pkg, function string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != function {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == pkg
}

func TestTestsDoNotSleep(t *testing.T) {
	const head = "package a\n\nimport \"time\"\n\n"
	tryOn(t, checkSleeps, []fixture{
		{"asleep", map[string]string{"a_test.go": head + "func TestA() {\n\ttime.Sleep(1)\n}\n"}, []string{"a_test.go:6"}},
		{"asleep in a helper", map[string]string{"a_test.go": head + "func a() {\n\tfor range time.Tick(1) {\n\t}\n}\n"}, []string{"a_test.go:6"}},
		{"asleep on a channel", map[string]string{"a_test.go": head + "func a() {\n\t<-time.After(1)\n}\n"}, []string{"a_test.go:6"}},
		{"a limit", map[string]string{"a_test.go": head + "func a(c chan int) {\n\tselect {\n\tcase <-c:\n\tcase <-time.After(1):\n\t}\n}\n"}, nil},
		{"not a test", map[string]string{"a.go": head + "func a() { time.Sleep(1) }\n"}, nil},
		{"real processes", map[string]string{"e2e/kafka/a_test.go": head + "func a() { time.Sleep(1) }\n"}, nil},
		{"an exception", map[string]string{"sink/spool/power_linux_test.go": head + "func a() { time.Sleep(1) }\n"}, nil},
		{"in a bubble", map[string]string{"a_test.go": "package a\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n" +
			"func a() { time.Sleep(1) }\n\nfunc TestA() {\n\tsynctest.Test(nil, func() { time.Sleep(1) })\n}\n"}, nil},
		{"beside a bubble", map[string]string{"a_test.go": "package a\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n" +
			"func TestA() {\n\tsynctest.Test(nil, func() {})\n\ttime.Sleep(1)\n}\n"}, []string{"a_test.go:10"}},
	})
	loaded, _ := repository(t)
	report(t, checkSleeps(loaded))
	for path := range sleepers {
		if !slices.ContainsFunc(loaded.files, func(s *source) bool { return s.path == path }) {
			t.Errorf("%s is an exception, and there is no such file", path)
		}
	}
}

func TestTestsWaitAfterASleep(t *testing.T) {
	const head = "package a\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n"
	tryOn(t, checkWakes, []fixture{
		{"no wait", map[string]string{"a_test.go": head + "func TestA() {\n\tsynctest.Test(nil, func() { time.Sleep(1) })\n}\n"}, []string{"a_test.go:9"}},
		{"a wait", map[string]string{"a_test.go": head + "func TestA() {\n\tsynctest.Test(nil, func() { await.Sleep(1) })\n}\n"}, nil},
		{"another goroutine", map[string]string{"a_test.go": head + "func TestA() {\n\tsynctest.Test(nil, func() { go func() { time.Sleep(1) }() })\n}\n"}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkWakes(loaded))
}
