// SPDX-License-Identifier: Apache-2.0

// Package loadlocation defines a check for time.LoadLocation in code that runs
// more than once: each call reads and parses the time zone file.
package loadlocation

import (
	"go/ast"
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports calls of time.LoadLocation with a name that is always the
// same, in a loop, or in a function that must not allocate; but not in init,
// main, package variables and below sync.Once. A name from outside is usually
// read once, with the configuration.
//
// It suggests no edit: a location that is loaded once is not loaded again after
// an error, nor when the files change.
var Analyzer = rule.Steady("loadlocation",
	"report time.LoadLocation per call\n\nLoad the location once: into a package variable, or when it is needed for the first time. sync.OnceValues would keep an error too.", run)

func run(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		if !typename.Calls(pass.TypesInfo, call, "time", "LoadLocation") || len(call.Args) != 1 {
			continue
		}
		around := place(pass, cur)
		zone := ""
		if v := pass.TypesInfo.Types[call.Args[0]].Value; v != nil {
			zone = constant.StringVal(v)
			// No file is read for these.
			if zone == "" || zone == "UTC" || zone == "Local" {
				continue
			}
		}
		if around.once || zone == "" && !around.loop && !rule.Hot(around.decl) {
			continue
		}
		pass.ReportRangef(call, "time.LoadLocation reads the time zone file each time; load it once")
	}
}

// surroundings describes the code around a call.
type surroundings struct {
	decl *ast.FuncDecl
	loop bool
	once bool // the call runs once: outside of functions, in init or main, or in an argument of a sync function
}

func place(pass *rule.Pass, c inspector.Cursor) (s surroundings) {
	lit := false
	for cur := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			s.loop = true
		case *ast.FuncDecl:
			s.decl = n
			s.once = s.once || !s.loop && !lit && n.Recv == nil && (n.Name.Name == "init" || n.Name.Name == "main" && pass.Pkg.Name() == "main")
			return s
		case *ast.FuncLit:
			if call, ok := cur.Parent().Node().(*ast.CallExpr); ok && !s.loop {
				_, name := typename.Method(pass.TypesInfo, call, "sync", "Once")
				s.once = s.once || name == "Do" || strings.HasPrefix(typename.Function(pass.TypesInfo, call, "sync"), "Once")
			}
			lit = true
		}
	}
	s.once = s.once || !lit && !s.loop // a variable of the package
	return s
}
