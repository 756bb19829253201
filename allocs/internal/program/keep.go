// SPDX-License-Identifier: Apache-2.0

// Package program links the packages of a module into executables in which
// every function has code, whether or not it is called.
//
// The linker drops unused functions, and a library alone is not linked at all.
// So each package gets one more file, in an overlay that only the go command
// sees: a variable that refers to every function and method. A main package,
// also in the overlay, refers to these variables.
package program

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// keepName returns the variable that keeps a package's functions. Each package
// has its own name for it, because a dot import merges the names of two
// packages.
func keepName(importPath string) string {
	return fmt.Sprintf("AllocsKeepsThese%08x", crc32.ChecksumIEEE([]byte(importPath)))
}

// keepFile returns the source of the file that is added to the package. It
// refers to what the types show in the files that this toolchain builds.
func keepFile(p *load.Package, fset *token.FileSet, typed *types.Package) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nvar %s = []interface{}{\n", p.Name, keepName(p.ImportPath))
	files := p.Sources()
	in := func(f *types.Func, adjusted bool) bool { // by comments //line, as cgo writes them
		return slices.Contains(files, fset.PositionFor(f.Pos(), adjusted).Filename)
	}
	for f, ref := range references(typed) {
		if in(f, true) || in(f, false) {
			fmt.Fprintf(&b, "\t%s,\n", ref)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// references yields expressions for the functions and methods of a package. A
// generic function has no code until it is instantiated, so its reference has
// type arguments.
func references(pkg *types.Package) func(yield func(*types.Func, string) bool) {
	return func(yield func(*types.Func, string) bool) {
		for _, name := range pkg.Scope().Names() {
			switch obj := pkg.Scope().Lookup(name).(type) {
			case *types.Func:
				sig := obj.Signature()
				args, ok := arguments(sig, sig.TypeParams())
				if ok && name != "main" && !yield(obj, name+args) {
					return
				}
			case *types.TypeName:
				t, ok := obj.Type().(*types.Named)
				if !ok || obj.IsAlias() {
					continue
				}
				args, ok := arguments(t, t.TypeParams())
				for m := range t.Methods() {
					sig := m.Signature()
					own, okOwn := arguments(sig, sig.TypeParams()) // since Go 1.27
					ref := name + args
					if _, star := sig.Recv().Type().(*types.Pointer); star {
						ref = "(*" + ref + ")"
					}
					if ok && okOwn && m.Name() != "_" && !yield(m, ref+"."+m.Name()+own) {
						return
					}
				}
			}
		}
	}
}

// candidates are the types that generic functions are instantiated with. The
// first is int: unlike a pointer, an int in an interface needs memory.
var candidates = func() []types.Type {
	out := []types.Type{types.Typ[types.Int], types.Typ[types.String]}
	for _, t := range types.Typ[types.Bool:types.UnsafePointer] {
		out = append(out, t)
	}
	basic := slices.Clone(out)
	for _, t := range basic {
		out = append(out, types.NewSlice(t))
	}
	for _, t := range basic {
		out = append(out, types.NewMap(out[0], t), types.NewMap(out[1], t))
	}
	return out
}()

// arguments returns types that meet the constraints of the parameters of a
// function or type, as "[int, string]". ok is false if no candidates do.
func arguments(of types.Type, params *types.TypeParamList) (list string, ok bool) {
	if params.Len() == 0 {
		return "", true
	}
	chosen := make([]int, params.Len())
	for {
		var args []types.Type
		var names []string
		for _, i := range chosen {
			args, names = append(args, candidates[i]), append(names, candidates[i].String())
		}
		_, err := types.Instantiate(nil, of, args, true)
		if err == nil {
			return "[" + strings.Join(names, ", ") + "]", true
		}
		failed := new(types.ArgumentError)
		if !errors.As(err, &failed) {
			return "", false
		}
		if chosen[failed.Index]++; chosen[failed.Index] == len(candidates) {
			return "", false
		}
	}
}
