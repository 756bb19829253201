// SPDX-License-Identifier: Apache-2.0

// Package analysis has the checks that need no compiler: they look at the
// source alone and run with go vet -vettool. They report patterns; the command
// allocs proves that a line allocates.
package analysis

import (
	"golang.org/x/tools/go/analysis"

	"github.com/nib-log/nib/allocs/analysis/eventreuse"
	"github.com/nib-log/nib/allocs/analysis/eventsend"
)

// Analyzers are all checks.
var Analyzers = []*analysis.Analyzer{
	eventreuse.Analyzer,
	eventsend.Analyzer,
}
