// SPDX-License-Identifier: Apache-2.0

package arch

import (
	_ "embed"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows has a row for each folder: what it may import from the repository. The
// first row that matches counts. "x/..." stands for x and the folders below it,
// "." for the root package, all for everything except ends, and public for all
// except internal packages. A folder, except sink, may also import the folders
// below it. The row "_test" is of tests.
//
//go:embed testdata/arrows.txt
var arrows string

// allowedBy returns the row of the table for a folder.
func allowedBy(folder string) (may []string, ok bool) {
	for row := range strings.Lines(arrows) {
		folders, imports, _ := strings.Cut(row, " :")
		if allows(strings.Fields(folders), folder) {
			return strings.Fields(imports), true
		}
	}
	return nil, false
}

// allows reports whether a list of the table contains a folder.
func allows(list []string, folder string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		top, below := strings.CutSuffix(pattern, "/...")
		return pattern == folder || below && within(folder, top) || !ends.MatchString(folder) &&
			(pattern == "all" || pattern == "public" && !internals.MatchString(folder))
	})
}

func checkArrows(t *tree) (v faults) {
	for _, s := range t.files {
		may, ok := allowedBy(s.folder)
		forTests, _ := allowedBy("_test")
		if !ok {
			v.add("%s: its folder has no row in the table of imports", s.path)
		}
		for _, spec := range s.syntax.Imports {
			to, own := strings.CutPrefix(strings.Trim(spec.Path.Value, "`\"")+"/", root+"/")
			to = path.Clean(to)
			if own && to != s.folder && (s.folder == "sink" || !within(to, s.folder)) &&
				!allows(may, to) && (!s.isTest || !allows(forTests, to)) {
				v.add("%s: %s may not import %s", s.at(spec), s.folder, to)
			}
		}
	}
	return v
}

func TestArrows(t *testing.T) { verify(t, checkArrows) }

// reading is the order in which the files of the root package are read, which
// is the order of the package comment and of the path of a line. A function
// calls only functions and uses only variables of its own file and of files
// further down. Types and constants may be used anywhere: Logger, Event, core
// and format refer to each other.
//
//go:embed testdata/reading.txt
var reading string

// checkReading finds calls from one file of the root package to another that is
// read before it.
func checkReading(t *tree) (v faults) {
	var files []*ast.File
	order := strings.Fields(reading)
	for _, s := range t.files {
		tagged := strings.Contains(s.text, "\n//go:build ")
		if s.folder == "." && !s.isTest && s.path != "doc.go" && !tagged {
			if !slices.Contains(order, s.path) {
				v.add("%s: it has no place in the order of reading", s.path)
			}
			files = append(files, s.syntax)
		}
	}
	// Nothing is imported: values of other packages have no type, and are not of
	// interest here.
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Error: func(error) {}}
	pkg, _ := config.Check(root, fset, files, &types.Info{Uses: uses})
	for id, object := range uses {
		from, to := fset.Position(id.Pos()), fset.Position(object.Pos()).Filename
		up := slices.Index(order, from.Filename) > slices.Index(order, to)
		if up && object.Pkg() == pkg && isCode(object) {
			v.add("%s: %s is in %s, which is read before", from, object.Name(), to)
		}
	}
	return v
}

// isCode reports whether an object is a function, a method that is not an
// interface's, or a package's variable.
func isCode(object types.Object) bool {
	switch x := object.(type) {
	case *types.Func:
		receiver := x.Signature().Recv()
		return receiver == nil || !types.IsInterface(receiver.Type())
	case *types.Var:
		return !x.IsField() && x.Parent() == x.Pkg().Scope()
	}
	return false
}

func TestRootFilesCallDownwards(t *testing.T) { verify(t, checkReading) }

// The budgets. Lines count with comments. Good code is far from all of them: a
// budget that is met to the line is a budget that has shaped the code.
var budgets = map[string]int{
	"lines of a source file":    500,
	"lines of a test file":      900,
	"lines of a function":       60,
	"source files of a package": 25,
	"fields of a struct":        20,
	"methods of a type":         40,
}

// A size of a folder, file, function or type has a budget.
type size struct{ name, budget string }

func sizes(t *tree) map[size]int {
	n, counted := map[size]int{}, map[string]bool{}
	for _, s := range t.files {
		set := func(budget, name string, count int) {
			n[size{name, budget}] = max(n[size{name, budget}], count)
		}
		kind := "lines of a test file"
		if !s.isTest {
			kind = "lines of a source file"
			n[size{s.folder, "source files of a package"}]++
		}
		set(kind, s.path, strings.Count(s.text, "\n"))
		for node := range ast.Preorder(s.syntax) {
			switch node := node.(type) {
			case *ast.FuncDecl:
				name := functionName(node)
				set("lines of a function", s.path+" "+name, line(node.End())-line(node.Pos())+1)
				method := s.folder + " " + name // in files of several systems, perhaps
				if node.Recv != nil && !s.isTest && !counted[method] {
					counted[method] = true
					n[size{strings.TrimSuffix(method, "."+node.Name.Name), "methods of a type"}]++
				}
			case *ast.TypeSpec:
				if x, ok := node.Type.(*ast.StructType); ok && !s.isTest {
					set("fields of a struct", s.folder+" "+node.Name.Name, x.Fields.NumFields())
				}
			}
		}
	}
	return n
}

// functionName returns "Name" for a function and "Type.Name" for a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver, _, _ := strings.Cut(types.ExprString(f.Recv.List[0].Type), "[")
	return strings.TrimPrefix(receiver, "*") + "." + f.Name.Name
}

func checkSizes(t *tree, budgets map[string]int) (v faults) {
	for key, count := range sizes(t) {
		if most := budgets[key.budget]; count > most {
			v.add("%s: %d %s, want at most %d", key.name, count, key.budget, most)
		}
	}
	return v
}

func TestBudgets(t *testing.T) {
	small := maps.Clone(budgets)
	for budget := range small {
		small[budget] = 2
	}
	bad, want := badTree(t)
	mustFind(t, checkSizes(bad, small), want...)
	mustFind(t, checkSizes(repository(), budgets).except(exceptions, t.Name()))
	mustFind(t, faults{"a: 1", "b: 2"}.except("X | a: | -\nX | d | -\nY | b | -\n", "X"),
		"b: 2", "d: the exception is not needed")
}

var isExported = regexp.MustCompile(`^[A-Z]\w*(\.[A-Z]\w*)?$`)

// exported returns the exported constants, variables, functions, types and
// methods of the public packages, such as "sink/file.Sink.Rotate".
func exported(t *tree) (names []string) {
	for _, s := range t.library() {
		add := func(prefix string, list ...*ast.Ident) {
			for _, id := range list {
				if isExported.MatchString(prefix + id.Name) {
					names = append(names, s.folder+"."+prefix+id.Name)
				}
			}
		}
		name := "" // of a type
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				add(strings.TrimSuffix(functionName(n), n.Name.Name), n.Name)
				return false
			case *ast.ValueSpec:
				add("", n.Names...)
			case *ast.TypeSpec:
				name = n.Name.Name + "."
				add("", n.Name)
			case *ast.InterfaceType:
				for _, method := range n.Methods.List {
					add(name, method.Names...)
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestExportedNames lists the names. The ratchet has their number by package.
func TestExportedNames(t *testing.T) {
	names := exported(repository())
	for _, name := range names {
		t.Log(name)
	}
	t.Log(len(names), "names")
}

// A pattern is a rule on the files whose paths match, and do not match except:
// their text must match, or must not, except for comments.
type pattern struct {
	name, files, except string
	must                bool
	text, advice        string
}

const (
	must, mustNot = true, false
	none          = `^$`
	spdx          = `// SPDX-License-Identifier: Apache-2\.0\n`
	arguments     = `(\tMOV.*\(FP\).*\n)*` // and results, of a function in assembly
)

var patterns = []pattern{
	{"licence", `\.(go|s)$`, none, must, `\A` + spdx, "the licence first"},
	{"requirements", `^go\.mod$`, none, must, `\Amodule ` + root + `\n\ngo 1\.24\n\z`,
		"Go 1.24 only"},
	{"sums", `^go\.sum$`, none, mustNot, `\A`, "no requirements"},
	{"assembly", `\.s$`, none, must,
		`\A((//.*|#.*)?\n|TEXT.*\n` + arguments + `\t.*\n` + arguments + `\tRET\n)*\z`,
		"functions of one instruction, for what Go cannot express"},
	{"unsafe", `\.go$`, `(^|/)unsafe(_test)?\.go$|\.pb\.go$`, mustNot, `"unsafe"\n`,
		"unsafe in unsafe.go only"},
	{"linkname", `\.go$`, none, mustNot, `//go:linkname[ ]`, "no linkname"},
	{"conflict", `\.md$`, none, mustNot, `(?m)^(<<<<<<<|>>>>>>>) `, "no conflict"},
	// Standard output and standard error have no deadline, and may end a
	// program. The accepted files pass them to package stdio, or to a writer that
	// uses it.
	{"streams", `\.go$`, `_test\.go$|` + programs, mustNot,
		`\bos\.Std(out|err)\b|\bfmt\.Print|[^.\w]print(ln)?\(`, "package lastresort or stdio"},
}

// check also names what it has found, at the beginning for the exceptions.
func (p *pattern) check(t *tree) (v faults) {
	files, except := regexp.MustCompile(p.files), regexp.MustCompile(p.except)
	text := regexp.MustCompile(p.text)
	for name, all := range t.text {
		if !files.MatchString(name) || except.MatchString(name) {
			continue
		}
		found := text.FindAllStringIndex(all, -1)
		if p.must && found == nil {
			v.add("%s: want %s", name, p.advice)
		}
		for _, at := range found {
			line := all[strings.LastIndex(all[:at[0]], "\n")+1 : at[0]]
			if !p.must && !strings.Contains(line, "//") {
				n := 1 + strings.Count(all[:at[0]], "\n")
				v.add("%s: %q in line %d: want %s", name, all[at[0]:at[1]], n, p.advice)
			}
		}
	}
	return v
}

func TestPatterns(t *testing.T) {
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) { verify(t, p.check) })
	}
}

// What tests do not call: outside of bubbles of testing/synctest, in a bubble's
// own goroutine, and in functions that are called in bubbles.
const (
	outside = " time.Sleep time.Tick time.NewTicker <-time.After "
	bubble  = " time.Sleep "
	called  = ""
)

// checkSleeps finds tests that sleep: they fail on a slow machine, or take
// longer than needed. In a bubble the time is not real, and await.Sleep also
// waits for the goroutines whose timers end at the same time. A receive from
// time.After among the cases of a select is a limit.
func checkSleeps(t *tree) (v faults) {
	for _, s := range t.files {
		var look func(root ast.Node, refused string)
		look = func(root ast.Node, refused string) {
			ast.Inspect(root, func(n ast.Node) bool {
				name := ""
				switch x := n.(type) {
				case *ast.FuncLit:
					return refused != bubble || x == root // or in a goroutine of its own, perhaps
				case *ast.CommClause:
					for _, statement := range x.Body {
						look(statement, refused)
					}
					return false
				case *ast.UnaryExpr:
					if call, ok := x.X.(*ast.CallExpr); ok && x.Op == token.ARROW {
						name = "<-" + types.ExprString(call.Fun)
					}
				case *ast.CallExpr:
					if name = types.ExprString(x.Fun); name == "synctest.Test" {
						look(x.Args[1], bubble)
						return false
					}
				}
				if strings.Contains(refused, " "+name+" ") {
					v.add("%s: want testing/synctest, or await.Sleep in its bubbles", s.at(n))
				}
				return true
			})
		}
		inBubbles := strings.Contains(s.text, "\t\"testing/synctest\"\n")
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && inBubbles && !strings.HasPrefix(f.Name.Name, "Test") {
				look(d, called)
			} else if s.isTest {
				look(d, outside)
			}
		}
	}
	return v
}

func TestTestsDoNotSleep(t *testing.T) { verify(t, checkSleeps) }
