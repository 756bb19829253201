// SPDX-License-Identifier: Apache-2.0

package fixes

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// tidy formats a rewritten file, without the imports that it needed before and
// needs no more.
func tidy(name string, old, text []byte) ([]byte, error) {
	before, err := parser.ParseFile(token.NewFileSet(), name, old, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	removed := false
	for _, s := range before.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		// Only those of the standard library have the name that their path ends
		// in for sure, and no fix takes away others.
		if err != nil || !taken[path] || s.Name != nil || used(file, path) {
			continue
		}
		removed = astutil.DeleteImport(fset, file, path) || removed
	}
	if !removed {
		return format.Source(text)
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

// taken are the packages whose calls fixes take away.
var taken = map[string]bool{"fmt": true, "strings": true, "sort": true, "strconv": true, "io": true}

// used tells whether a file has a name of the package in it.
func used(file *ast.File, path string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == path && id.Obj == nil {
				found = true
			}
		}
		return !found
	})
	return found
}
