// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/ast"
	"go/types"
)

// Boxes are the arguments of calls that are stored in an interface, with the
// kind of their box, keyed by file, line and source text.
type Boxes map[string]map[int]map[string]Box

// Box is the runtime's way to store a value in an interface.
type Box uint8

// The kinds of boxes.
const (
	Free  Box = iota // a pointer, a byte, nothing at all
	Small            // two, four or eight bytes without pointers: small values are free
	Other
)

// Boxes returns the boxes of the packages, for a machine with 64-bit words.
func (s *Source) Boxes() Boxes {
	out := Boxes{}
	for _, p := range s.Packages {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					out.call(s, p.TypesInfo, call)
				}
				return true
			})
		}
	}
	return out
}

func (b Boxes) call(s *Source, info *types.Info, call *ast.CallExpr) {
	sig, ok := types.Unalias(info.TypeOf(call.Fun)).(*types.Signature)
	if !ok || call.Ellipsis.IsValid() {
		return
	}
	for i, arg := range call.Args {
		t := info.TypeOf(arg)
		if to := param(sig, i); to == nil || !types.IsInterface(to) || t == nil || types.IsInterface(t) || info.Types[arg].Value != nil {
			continue
		}
		at := s.Fset.Position(arg.Pos())
		lines := b[at.Filename]
		if lines == nil {
			lines = map[int]map[string]Box{}
			b[at.Filename] = lines
		}
		if lines[at.Line] == nil {
			lines[at.Line] = map[string]Box{}
		}
		lines[at.Line][types.ExprString(arg)] = boxOf(t)
	}
}

func param(sig *types.Signature, i int) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		return sig.Params().At(n - 1).Type().(*types.Slice).Elem()
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

var words64 = types.SizesFor("gc", "amd64")

func boxOf(t types.Type) Box {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return Other
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return Free
	case *types.Basic:
		if u.Kind() == types.UnsafePointer || u.Kind() == types.UntypedNil {
			return Free
		}
	}
	switch words64.Sizeof(t) {
	case 0, 1:
		return Free
	case 2, 4, 8:
		if !pointers(t) {
			return Small
		}
	}
	return Other
}

// pointers reports whether a value of at most one word holds a pointer.
func pointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() > 0 && pointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if pointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
