// SPDX-License-Identifier: Apache-2.0

// Package runs runs the user's own benchmarks, and tests if requested, in child
// processes and counts every allocation with its stack.
//
// The test binary gets one more file, and a changed runtime and testing
// package, in an overlay that only the go command sees. The testing package
// lets that file run each benchmark without sub-benchmarks (a leaf) for two
// numbers of iterations. Their difference is exact for each stack: allocations
// that happen once (set-up, warm-up, the testing package itself) cancel out.
// The runtime allocates the smallest objects one by one instead of packing them
// into blocks, so that its profile has all of them.
//
// Each benchmark runs in a separate process. One that panics, hangs or ends the
// process loses only its own count.
package runs

import (
	"embed"
	"strings"
	"text/template"
)

// entryName is the test that measures other tests.
const entryName = "TestAllocsMeasuresThis"

// environment holds the names of the variables that the file reads.
var environment = struct{ Out, LeftOut, Budget, Visit, Test string }{
	"NIB_ALLOCS_OUT", "NIB_ALLOCS_LEFT_OUT", "NIB_ALLOCS_BUDGET", "NIB_ALLOCS_VISIT", "NIB_ALLOCS_TEST",
}

//go:embed harness/*.txt
var harness embed.FS

var templates = template.Must(template.ParseFS(harness, "harness/*.txt"))

// file is the data of the templates.
type file struct {
	Package string
	Tests   []string
	Kept    []string // functions that get code in any case
	Windows bool
	Entry   string
}

func (f file) Env() any { return environment }

func (f file) Slow() int { return slow }

func (f file) source(name string) (string, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, name, f)
	return b.String(), err
}
