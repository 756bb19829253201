// SPDX-License-Identifier: Apache-2.0

package program

import (
	"go/ast"
	"go/token"
	"strings"
)

// generics are the declarations that instances of generic functions are chosen
// by: the generic types of a package and its interfaces, by name.
type generics struct {
	types      map[string]*ast.FieldList // type parameters; nil for types that have none
	interfaces map[string]*ast.InterfaceType
}

func (g *generics) add(t *ast.TypeSpec) {
	g.types[t.Name.Name] = t.TypeParams
	if i, ok := t.Type.(*ast.InterfaceType); ok && t.TypeParams == nil {
		g.interfaces[t.Name.Name] = i
	}
}

// arguments returns types that meet the constraints of type parameters, as
// "[int, string]". It uses int wherever possible: unlike a pointer, an int in
// an interface needs memory. ok is false where the source alone does not show
// such types.
func (g *generics) arguments(params *ast.FieldList) (list string, ok bool) {
	if params == nil {
		return "", true
	}
	constraints := map[string]ast.Expr{}
	var names []string
	for _, f := range params.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
			constraints[n.Name] = f.Type
		}
	}
	chosen := make([]string, len(names))
	for i, name := range names {
		c := choice{generics: g, params: constraints}
		if chosen[i] = c.of(constraints[name]); c.unknown {
			return "", false
		}
	}
	return "[" + strings.Join(chosen, ", ") + "]", true
}

// choice finds a type for one constraint.
type choice struct {
	*generics
	params  map[string]ast.Expr // all constraints of the same declaration
	depth   int
	unknown bool
}

func (c *choice) of(e ast.Expr) string {
	if c.depth++; c.depth > 20 { // recursive declarations
		c.unknown = true
		return ""
	}
	switch e := e.(type) {
	case *ast.Ident:
		return c.named(e.Name)
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			switch pkg.Name + "." + e.Sel.Name {
			case "cmp.Ordered", "constraints.Ordered", "constraints.Integer", "constraints.Signed":
				return "int"
			}
		}
	case *ast.InterfaceType:
		switch fields := e.Methods.List; {
		case len(fields) == 0:
			return "int"
		case len(fields) == 1 && len(fields[0].Names) == 0:
			return c.of(fields[0].Type)
		}
	case *ast.BinaryExpr: // a union: its first term
		return c.of(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.TILDE {
			return c.of(e.X)
		}
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + c.of(e.Elt)
		}
	case *ast.MapType:
		return "map[" + c.of(e.Key) + "]" + c.of(e.Value)
	}
	c.unknown = true
	return ""
}

func (c *choice) named(name string) string {
	if constraint, ok := c.params[name]; ok {
		return c.of(constraint)
	}
	if i, ok := c.interfaces[name]; ok {
		return c.of(i)
	}
	if _, ok := c.types[name]; ok {
		c.unknown = true // the type argument may be anything
		return ""
	}
	switch name {
	case "any", "comparable":
		return "int"
	case "bool", "string", "byte", "rune", "uintptr", "int", "int8", "int16", "int32", "int64",
		"uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128":
		return name
	}
	c.unknown = true
	return ""
}
