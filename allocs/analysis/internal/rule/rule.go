// SPDX-License-Identifier: Apache-2.0

// Package rule provides the common parts of the checks: making an analyzer,
// iterating over the files of a package, and recognising events.
package rule

import (
	"go/ast"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Pass is one run of a check over a package.
type Pass struct {
	*analysis.Pass
	inspector *inspector.Inspector
}

// New makes a check of all files that are not generated.
func New(name, doc string, run func(*Pass)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      "https://github.com/nib-log/nib/blob/main/docs/zero-alloc.md#" + name,
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			run(&Pass{pass, pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)})
			return nil, nil
		},
	}
}

// Nodes iterates over the nodes of a type in files that are not generated.
func Nodes[N ast.Node](p *Pass) iter.Seq[N] {
	return func(yield func(N) bool) {
		var none N
		for file := range p.inspector.Root().Children() {
			if ast.IsGenerated(file.Node().(*ast.File)) {
				continue
			}
			for cur := range file.Preorder(none) {
				if !yield(cur.Node().(N)) {
					return
				}
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
	return slices.Contains([]string{"Msg", "Msgf", "Msgs", "MsgFunc", "Send"}, name)
}
