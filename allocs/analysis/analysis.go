// SPDX-License-Identifier: Apache-2.0

// Package analysis has the checks that need no compiler: they look at the
// source alone and run with go vet -vettool, gopls and golangci-lint. They
// report patterns; the command allocs proves that a line allocates.
package analysis

import (
	"golang.org/x/tools/go/analysis"

	"github.com/nib-log/nib/allocs/analysis/appendlost"
	"github.com/nib-log/nib/allocs/analysis/boxedlevel"
	"github.com/nib-log/nib/allocs/analysis/eventreuse"
	"github.com/nib-log/nib/allocs/analysis/eventsend"
	"github.com/nib-log/nib/allocs/analysis/keptliteral"
	"github.com/nib-log/nib/allocs/analysis/loadlocation"
	"github.com/nib-log/nib/allocs/analysis/poolpointers"
	"github.com/nib-log/nib/allocs/analysis/poolremake"
	"github.com/nib-log/nib/allocs/analysis/poolvalue"
	"github.com/nib-log/nib/allocs/analysis/slogboxed"
)

// Analyzers are all checks.
var Analyzers = []*analysis.Analyzer{
	appendlost.Analyzer,
	boxedlevel.Analyzer,
	eventreuse.Analyzer,
	eventsend.Analyzer,
	keptliteral.Analyzer,
	loadlocation.Analyzer,
	poolpointers.Analyzer,
	poolremake.Analyzer,
	poolvalue.Analyzer,
	slogboxed.Analyzer,
}
