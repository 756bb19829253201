// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// spdx is the licence, in the first line of each file.
const spdx = "// SPDX-License-Identifier: Apache-2.0\n"

func checkLicence(t *tree) (violations []string) {
	for _, s := range t.files {
		if !bytes.HasPrefix(s.text, []byte(spdx)) {
			violations = append(violations, fmt.Sprintf("%s: the first line is not %q", s.path, strings.TrimSpace(spdx)))
		}
	}
	return violations
}

// checkUnsafe allows unsafe in one named file per package, and in those that
// need a build tag.
func checkUnsafe(t *tree) (violations []string) {
	for _, s := range t.files {
		name := path.Base(s.path)
		if name == "unsafe.go" || name == "unsafe_test.go" || strings.Contains(name, "_nibfast") && needs(s.condition, "nibfast") {
			continue
		}
		if s.isGo() && ast.IsGenerated(s.syntax) && within(s.folder, "examples") { // by protoc
			continue
		}
		paths, at := s.imports()
		if i := slices.Index(paths, "unsafe"); i >= 0 {
			violations = append(violations, at[i]+": unsafe is imported in unsafe.go only, or in a *_nibfast*.go that is built with that tag")
		}
	}
	return violations
}

// checkTricks keeps linkname out of the default build, and assembly, except for
// functions of one instruction that Go cannot express.
func checkTricks(t *tree) (violations []string) {
	for _, s := range t.files {
		if needs(s.condition, "nibfast") {
			continue
		}
		if !s.isGo() {
			if n := longestFunction(string(s.text)); n > 1 {
				violations = append(violations, fmt.Sprintf("%s: assembly without -tags nibfast has functions of one instruction, got %d", s.path, n))
			}
			continue
		}
		for _, group := range s.syntax.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname") {
					violations = append(violations, s.at(c)+": linkname is used with -tags nibfast only")
				}
			}
		}
	}
	return violations
}

// longestFunction returns the number of instructions of the longest function in
// assembly. Loads of arguments, stores of results and RET do not count.
func longestFunction(text string) (longest int) {
	n := 0
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(line, "#"):
		case fields[0] == "TEXT":
			n = 0
		case fields[0] == "RET":
		case strings.HasPrefix(fields[0], "MOV") && len(fields) == 3 && strings.Contains(fields[1]+fields[2], "(FP)"):
		default:
			n++
			longest = max(longest, n)
		}
	}
	return longest
}

// needs reports whether a build condition cannot hold without a tag: it tries
// each combination of the other tags in the condition.
func needs(condition constraint.Expr, tag string) bool {
	if condition == nil {
		return false
	}
	var others []string
	collect(condition, func(t string) {
		if t != tag && !slices.Contains(others, t) {
			others = append(others, t)
		}
	})
	for set := range 1 << len(others) {
		if condition.Eval(func(t string) bool { i := slices.Index(others, t); return i >= 0 && set>>i&1 == 1 }) {
			return false
		}
	}
	return true
}

// collect visits the tags of a condition.
func collect(e constraint.Expr, visit func(tag string)) {
	switch x := e.(type) {
	case *constraint.AndExpr:
		collect(x.X, visit)
		collect(x.Y, visit)
	case *constraint.OrExpr:
		collect(x.X, visit)
		collect(x.Y, visit)
	case *constraint.NotExpr:
		collect(x.X, visit)
	case *constraint.TagExpr:
		visit(x.Tag)
	}
}

// checkSkips finds tests that skip without a reason.
func checkSkips(t *tree) (violations []string) {
	for _, s := range t.files {
		if paths, _ := s.imports(); !slices.Contains(paths, "testing") {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if f.Sel.Name == "SkipNow" || (f.Sel.Name == "Skip" || f.Sel.Name == "Skipf") && !hasReason(call.Args) {
				violations = append(violations, s.at(call)+": a skipped test says why")
			}
			return true
		})
	}
	return violations
}

// hasReason reports whether the first argument is something other than "".
func hasReason(args []ast.Expr) bool {
	if len(args) == 0 {
		return false
	}
	text, ok := args[0].(*ast.BasicLit)
	return !ok || strings.Trim(text.Value, "`\" ") != ""
}

// checkRootModule keeps the root module free of requirements.
func checkRootModule(fsys fs.FS) (violations []string) {
	text, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return []string{err.Error()}
	}
	if _, err := fs.Stat(fsys, "go.sum"); err == nil {
		violations = append(violations, "go.sum: the root module requires nothing, so there is nothing to sum")
	}
	want := []string{"module " + root, "go 1.24"}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if i := slices.Index(want, line); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else if line != "" {
			violations = append(violations, fmt.Sprintf("go.mod: got %q, want the module and go lines only", line))
		}
	}
	for _, line := range want {
		violations = append(violations, fmt.Sprintf("go.mod: want a line %q", line))
	}
	return violations
}

func TestRootModule(t *testing.T) {
	const good = "module github.com/nib-log/nib\n\ngo 1.24 // the oldest\n"
	cases := []fixture{
		{"good", map[string]string{"go.mod": good}, nil},
		{"none", nil, []string{"go.mod"}},
		{"requirement", map[string]string{"go.mod": good + "require example.com/x v1.0.0\n"}, []string{"require example.com"}},
		{"block", map[string]string{"go.mod": good + "require (\n\texample.com/x v1.0.0\n)\n"}, []string{"require (", "example.com", `")"`}},
		{"toolchain", map[string]string{"go.mod": good + "toolchain go1.26.0\n"}, []string{"toolchain"}},
		{"go line", map[string]string{"go.mod": "module github.com/nib-log/nib\ngo 1.26\n"}, []string{`got "go 1.26"`, `want a line "go 1.24"`}},
		{"sums", map[string]string{"go.mod": good, "go.sum": ""}, []string{"go.sum"}},
	}
	for _, c := range cases {
		fsys := fstest.MapFS{}
		for name, text := range c.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		compare(t, c.name, checkRootModule(fsys), c.want)
	}
	_, fsys := repository(t)
	report(t, checkRootModule(fsys))
}

func TestLicence(t *testing.T) {
	tryOn(t, checkLicence, []fixture{
		{"good", map[string]string{"a.go": spdx + "\npackage a\n", "a.s": spdx}, nil},
		{"missing", map[string]string{"a.go": "package a\n"}, []string{"a.go: the first line"}},
		{"missing in assembly", map[string]string{"a.s": "\n"}, []string{"a.s"}},
		{"not first", map[string]string{"a.go": "\n" + spdx + "package a\n"}, []string{"a.go"}},
		{"other licence", map[string]string{"a.go": "// SPDX-License-Identifier: MIT\npackage a\n"}, []string{"a.go"}},
	})
	loaded, _ := repository(t)
	report(t, checkLicence(loaded))
}

func TestUnsafe(t *testing.T) {
	const fast, generated = "//go:build nibfast && amd64\n\n", "// Code generated by protoc-gen-go. DO NOT EDIT.\n\n"
	tryOn(t, checkUnsafe, []fixture{
		{"good", map[string]string{
			"a/unsafe.go": importing("unsafe"), "a/unsafe_test.go": importing("unsafe"),
			"b/pin_nibfast.go": fast + importing("unsafe"), "c.go": importing("strings"),
			"examples/a/pb/a.pb.go": generated + importing("unsafe"),
		}, nil},
		{"elsewhere", map[string]string{"a.go": importing("unsafe")}, []string{"a.go:3: unsafe"}},
		{"generated", map[string]string{"a/a.pb.go": generated + importing("unsafe")}, []string{"a/a.pb.go:5: unsafe"}},
		{"in a test", map[string]string{"a_test.go": importing("unsafe")}, []string{"a_test.go:3"}},
		{"name without the tag", map[string]string{"pin_nibfast.go": importing("unsafe")}, []string{"pin_nibfast.go:3"}},
		{"tag without the name", map[string]string{"pin.go": fast + importing("unsafe")}, []string{"pin.go:5"}},
	})
	loaded, _ := repository(t)
	report(t, checkUnsafe(loaded))
}

func TestTricks(t *testing.T) {
	const linkname = "package a\n\nimport _ \"unsafe\"\n\n//go:linkname procPin runtime.procPin\nfunc procPin() int\n"
	const store = "TEXT x(SB), NOSPLIT, $0-12\n\tMOVQ p+0(FP), AX // where\n\tMOVL v+8(FP), CX\n\tMOVL CX, (AX)\n\tRET\n"
	const load = "TEXT y(SB), NOSPLIT, $0-8\n\tRDPID AX\n\tMOVQ AX, ret+0(FP)\n\tRET\n"
	tryOn(t, checkTricks, []fixture{
		{"good", map[string]string{
			"a.s": "//go:build nibfast\n", "b.s": "//go:build nibfast && (linux || darwin) && !race\n",
			"c.go": "//go:build nibfast\n\n" + linkname, "d.go": "package a\n\n// not //go:linkname\n",
		}, nil},
		{"one instruction", map[string]string{"a.s": "#include \"textflag.h\"\n" + store + store + load}, nil},
		{"assembly", map[string]string{"a.s": "TEXT x(SB), $0\n\tPAUSE\n\tPAUSE\n\tRET\n"}, []string{"a.s: assembly"}},
		{"assembly without nibfast too", map[string]string{"a.s": "//go:build nibfast || amd64\n" + store + "\tPAUSE\n"}, []string{"a.s"}},
		{"assembly without nibfast only", map[string]string{"a.s": "//go:build !nibfast\n" + store + "\tMOVL CX, DX\n"}, []string{"a.s"}},
		{"linkname", map[string]string{"a.go": linkname}, []string{"a.go:5: linkname"}},
		{"linkname by another tag", map[string]string{"a.go": "//go:build race\n\n" + linkname}, []string{"a.go:7"}},
	})
	loaded, _ := repository(t)
	report(t, checkTricks(loaded))
}

func TestSkips(t *testing.T) {
	test := func(body string) string {
		return "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\t" + body + "\n}\n"
	}
	tryOn(t, checkSkips, []fixture{
		{"good", map[string]string{
			"a_test.go": test(`t.Skip("needs a terminal")`), "b_test.go": test("t.Skip(reason())"),
			"c.go": "package a\n\nfunc f(s scanner) { s.Skip() }\n",
		}, nil},
		{"no argument", map[string]string{"a_test.go": test("t.Skip()")}, []string{"a_test.go:6"}},
		{"empty reason", map[string]string{"a_test.go": test(`t.Skip("")`)}, []string{"a_test.go:6"}},
		{"empty format", map[string]string{"a_test.go": test(`t.Skipf(" ")`)}, []string{"a_test.go:6"}},
		{"at once", map[string]string{"a_test.go": test("t.SkipNow()")}, []string{"a_test.go:6"}},
		{"in a closure", map[string]string{"a_test.go": test(`t.Run("x", func(t *testing.T) { t.Skip() })`)}, []string{"a_test.go:6"}},
	})
	loaded, _ := repository(t)
	report(t, checkSkips(loaded))
}
