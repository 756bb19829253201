// SPDX-License-Identifier: Apache-2.0

// Package runs runs the user's own benchmarks in child processes and counts
// every allocation with its stack.
//
// The test binary gets one more file, and a changed runtime and testing
// package, in an overlay that only the go command sees. The testing package
// lets that file run each benchmark without sub-benchmarks (a leaf) for two
// numbers of iterations. Their difference is exact for each stack: allocations
// that happen once (set-up, warm-up, the testing package itself) cancel out.
// The runtime allocates the smallest objects one by one instead of packing them
// into blocks, so that its profile has all of them.
//
// Each benchmark runs in a separate process. A benchmark that panics, hangs or
// ends the process loses only its own count.
package runs

import (
	"bytes"
	"embed"
	"runtime"
	"text/template"
)

// environment holds the names of the variables that the file reads.
var environment = struct{ Out, LeftOut, Budget, Visit string }{
	"NIB_ALLOCS_OUT", "NIB_ALLOCS_LEFT_OUT", "NIB_ALLOCS_BUDGET", "NIB_ALLOCS_VISIT",
}

//go:embed harness/*.txt
var harness embed.FS

var templates = template.Must(template.ParseFS(harness, "harness/*.txt"))

// measuring returns the file that is added to a package of tests.
func measuring(pkg string) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "harness.go.txt", map[string]any{
		"Package": pkg, "Env": environment, "Slow": slow, "Windows": runtime.GOOS == "windows",
	})
	return b.Bytes(), err
}
