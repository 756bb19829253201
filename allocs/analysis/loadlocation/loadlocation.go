// SPDX-License-Identifier: Apache-2.0

// Package loadlocation defines a check for time.LoadLocation in code that runs
// more than once: each call reads and parses the time zone file.
package loadlocation

import (
	"fmt"
	"go/ast"
	"go/constant"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports calls of time.LoadLocation with a name that is always the
// same, in a loop, or in a function that must not allocate; but not in init,
// main, package variables and below sync.Once. A name that comes from outside
// is mostly read once, with the configuration.
var Analyzer = rule.Steady("loadlocation",
	"report time.LoadLocation per call\n\nLoad the location once, into a package variable or with sync.OnceValues.", run)

func run(pass *rule.Pass) {
	named := map[string]int{}
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		if !typename.Calls(pass.TypesInfo, call, "time", "LoadLocation") || len(call.Args) != 1 {
			continue
		}
		around := place(pass, cur)
		zone := ""
		if v := pass.TypesInfo.Types[call.Args[0]].Value; v != nil {
			zone = constant.StringVal(v)
			// For these nothing is read.
			if zone == "" || zone == "UTC" || zone == "Local" {
				continue
			}
		}
		if around.once || zone == "" && !around.loop && !rule.Hot(around.decl) {
			continue
		}
		d := analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Message: "time.LoadLocation reads the time zone file each time; load it once"}
		if zone != "" && around.decl != nil {
			d.SuggestedFixes = fix(pass, cur, call, around.decl, zone, named)
		}
		pass.Report(d)
	}
}

// surroundings is what is around a call.
type surroundings struct {
	decl *ast.FuncDecl
	loop bool
	once bool // runs once: no function is around it, or init or main, or an argument of a sync function
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

// fix moves the call into a variable of the package that loads the location
// when it is asked for the first time.
func fix(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, decl *ast.FuncDecl, zone string, named map[string]int) []analysis.SuggestedFix {
	file := rule.Around[*ast.File](c)
	sync, edits, ok := edit.Import(pass.Pass, file, decl.Pos(), "sync")
	if !ok {
		return nil
	}
	timePkg, _, ok := edit.Import(pass.Pass, file, decl.Pos(), "time")
	if !ok {
		return nil
	}
	name := edit.Package(pass.Pass, file, call.Pos(), variable(zone))
	// Each fix stands alone, so two of them cannot share a variable.
	if named[name]++; named[name] > 1 {
		name = edit.Package(pass.Pass, file, call.Pos(), fmt.Sprintf("%s%d", name, named[name]))
	}
	at := decl.Pos()
	if decl.Doc != nil {
		at = decl.Doc.Pos()
	}
	text := fmt.Sprintf("var %s = %s.OnceValues(func() (*%s.Location, error) { return %s })\n\n", name, sync, timePkg, edit.Text(pass.Fset, call))
	return edit.Replace("load it once", call, name+"()", append(edits, edit.Insert(at, text))...)
}

// variable makes a name of that of a time zone.
func variable(zone string) string {
	city := zone[strings.LastIndexByte(zone, '/')+1:]
	return "load" + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, city)
}
