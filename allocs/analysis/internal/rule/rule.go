// SPDX-License-Identifier: Apache-2.0

// Package rule provides the common parts of the checks: making an analyzer,
// iterating over the files of a package, and recognising events.
package rule

import (
	"go/ast"
	"go/types"
	"iter"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Pass is one run of a check over a package.
type Pass struct {
	*analysis.Pass
	files []inspector.Cursor
}

// New makes a check of all files that are not generated.
func New(name, doc string, run func(*Pass)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      "https://github.com/nib-log/nib/blob/main/docs/zero-alloc.md#" + name,
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			p := &Pass{Pass: pass}
			for file := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Children() {
				if !ast.IsGenerated(file.Node().(*ast.File)) {
					p.files = append(p.files, file)
				}
			}
			run(p)
			return nil, nil
		},
	}
}

// Nodes iterates over the nodes of a type.
func Nodes[N ast.Node](p *Pass) iter.Seq2[inspector.Cursor, N] {
	return func(yield func(inspector.Cursor, N) bool) {
		for _, file := range p.files {
			for cur, n := range Below[N](file) {
				if !yield(cur, n) {
					return
				}
			}
		}
	}
}

// Below iterates over the nodes of a type at and below a place.
func Below[N ast.Node](c inspector.Cursor) iter.Seq2[inspector.Cursor, N] {
	return func(yield func(inspector.Cursor, N) bool) {
		var none N
		for cur := range c.Preorder(none) {
			if !yield(cur, cur.Node().(N)) {
				return
			}
		}
	}
}

// events are the event types of loggers that write when Msg or Send is called,
// by the path of the package.
var events = map[string]string{
	"github.com/nib-log/nib": "Event", "github.com/rs/zerolog": "Event", "github.com/phuslu/log": "Entry",
}

// IsEvent reports whether t is a pointer to the event of such a logger.
func IsEvent(t types.Type) bool { return EventOf(t) != "" }

// EventOf returns the package whose event t is a pointer to, or "".
func EventOf(t types.Type) string {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return ""
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || events[n.Obj().Pkg().Path()] != n.Obj().Name() {
		return ""
	}
	return n.Obj().Pkg().Path()
}

// EndsEvent reports whether a method writes the event, which then belongs to
// the logger again.
func EndsEvent(name string) bool {
	switch name {
	case "Msg", "Msgf", "Msgs", "MsgFunc", "Send":
		return true
	}
	return false
}
