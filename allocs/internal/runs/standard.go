// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// ErrStandard means that the measuring build cannot change the standard library
// of a release.
var ErrStandard = errors.New("the standard library of this release cannot be measured with")

// standard writes the changed files of the standard library below work, and
// returns them by the path of the file they replace.
func standard(tc *toolchain.Toolchain, work string) (map[string]string, error) {
	src := filepath.Join(tc.GOROOT, "src")
	replace := map[string]string{}
	add := func(path string, text []byte) error {
		to := filepath.Join(work, "std-"+strings.ReplaceAll(path, "/", "-"))
		replace[filepath.Join(src, filepath.FromSlash(path))] = to
		return os.WriteFile(to, text, 0o644)
	}
	for _, pkg := range []string{"testing", "runtime"} {
		text, err := harness.ReadFile("harness/" + pkg + ".go.txt")
		if err != nil {
			return nil, err
		}
		if err := add(pkg+"/allocs_measures_this.go", text); err != nil {
			return nil, err
		}
	}
	for path, change := range map[string]func(*ast.File) []edit{
		"testing/benchmark.go": hooked, "runtime/malloc.go": oneByOne, "runtime/mprof.go": whole,
	} {
		text, err := os.ReadFile(filepath.Join(src, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		changed, err := rewrite(text, change)
		if errors.Is(err, errUnchanged) && strings.HasPrefix(path, "runtime/") {
			continue // the runs report by themselves whether they count exactly
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %s: %w", ErrStandard, tc.Version, path, err)
		}
		if err := add(path, changed); err != nil {
			return nil, err
		}
	}
	return replace, nil
}

// edit replaces the source between two positions.
type edit struct {
	from, to token.Pos
	text     string
}

var errUnchanged = errors.New("what is to be changed is not there")

// rewrite changes Go source and keeps line numbers.
func rewrite(text []byte, change func(*ast.File) []edit) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	edits := change(f)
	if len(edits) == 0 {
		return nil, errUnchanged
	}
	at := func(p token.Pos) int { return files.File(f.Pos()).Offset(p) }
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(text[last:at(e.from)])
		out.WriteString(e.text)
		last = at(e.to)
	}
	out.Write(text[last:])
	return out.Bytes(), nil
}

// hooked renames the methods of testing.B that a file of the overlay replaces.
// All must exist.
func hooked(f *ast.File) []edit {
	var out []edit
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil {
			continue
		}
		switch name := fn.Name.Name; name {
		case "run1", "launch", "StartTimer", "StopTimer", "ResetTimer":
			out = append(out,
				edit{fn.Name.Pos(), fn.Name.End(), "allocs" + strings.ToUpper(name[:1]) + name[1:]})
		}
	}
	if len(out) != 5 {
		return nil
	}
	return out
}

// within returns the edits of expressions in the body of a function.
func within(
	f *ast.File, function string, change func(n ast.Node) (of ast.Node, text string),
) (out []edit) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if of, text := change(n); of != nil {
				out = append(out, edit{of.Pos(), of.End(), text})
			}
			return true
		})
	}
	return out
}

// named reports whether an expression is a name.
func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// oneByOne makes mallocgc allocate small objects without pointers like all
// others: the condition under which it packs them is never true.
func oneByOne(f *ast.File) []edit {
	return within(f, "mallocgc", func(n ast.Node) (ast.Node, string) {
		x, ok := n.(*ast.BinaryExpr)
		if ok && x.Op == token.LSS && named(x.X, "size") && named(x.Y, "maxTinySize") {
			return x, "(false && size < maxTinySize)"
		}
		return nil, ""
	})
}

// whole makes the profile begin stacks at mallocgc, as it does since Go 1.26:
// the function that calls it shows the kind of an allocation.
func whole(f *ast.File) []edit {
	return within(f, "mProf_Malloc", func(n ast.Node) (ast.Node, string) {
		if call, ok := n.(*ast.CallExpr); ok && named(call.Fun, "callers") {
			return call.Args[0], "3"
		}
		return nil, ""
	})
}
