// SPDX-License-Identifier: Apache-2.0

// Package loadlocation defines a check for time.LoadLocation in code that runs
// more than once: each call reads and parses the time zone file.
package loadlocation

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports calls of time.LoadLocation outside of init, main, package
// variables and sync.Once.
var Analyzer = &analysis.Analyzer{
	Name:     "loadlocation",
	Doc:      "report time.LoadLocation per call\n\nLoad the location once, into a package variable or with sync.OnceValues.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		call := n.(*ast.CallExpr)
		if push && typename.Calls(pass, call, "time", "LoadLocation") && !once(pass, stack) {
			pass.ReportRangef(call, "time.LoadLocation reads the time zone file each time; load it once")
		}
		return true
	})
	return nil, nil
}

// once tells whether what is around a call makes it run once: no function is,
// or init or main without a loop, or an argument of a sync function.
func once(pass *analysis.Pass, stack []ast.Node) bool {
	for i := len(stack) - 2; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.FuncDecl:
			return n.Recv == nil && (n.Name.Name == "init" || n.Name.Name == "main" && pass.Pkg.Name() == "main")
		case *ast.FuncLit:
			call, ok := stack[i-1].(*ast.CallExpr)
			if !ok {
				return false
			}
			for _, name := range []string{"OnceFunc", "OnceValue", "OnceValues"} {
				if typename.Calls(pass, call, "sync", name) {
					return true
				}
			}
			recv, name := typename.Method(pass, call, "sync", "Once")
			return recv != nil && name == "Do"
		}
	}
	return true
}
