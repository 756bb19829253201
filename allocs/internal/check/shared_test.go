// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
)

const modulePath = "example.com/m"

// cases are the files of a module that most tests share, because builds take
// longer than runs. Package small has a file for each test. The tests of
// broken, unlinked and unread do not build.
var cases = map[string]map[string]string{
	"small": {
		"alone.go": aloneSource, "alone_test.go": aloneTest,
		"conflict.go": conflictSource, "conflict_test.go": conflictTest,
		"everypath.go": everyPathSource, "generated.go": conflictGenerated,
		"inlined.go": inlinedSource, "inlined_test.go": inlinedTest,
		"leaves.go": leavesSource, "leaves_test.go": leavesTest,
		"setup.go": setUpSource, "setup_test.go": setUpTest,
		"strict.go": strictSource, "strict_test.go": strictTest,
		"sure.go": sureSource, "sure_test.go": sureTest,
		"unproven.go": unprovenSource, "unproven_test.go": unprovenTest,
	},
	"broken":   brokenFiles,
	"often":    oftenFiles(),
	"only":     onlyTestFiles,
	"unlinked": unlinkedFiles,
	"unread":   unreadFiles,
}

// documents are what the command says about the module.
type documents struct {
	runs, strict *findings.Document // with all benchmarks
	static       *findings.Document // with --bench NoSuch
}

// examined checks the module once, for all tests.
var examined = sync.OnceValues(func() (*documents, error) {
	dir, err := os.MkdirTemp("", "check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	err = write(dir, "go.mod", "module "+modulePath+"\n\ngo 1.24\n")
	for below, files := range cases {
		for name, text := range files {
			err = errors.Join(err, write(dir, path.Join(below, name), text))
		}
	}
	if err != nil {
		return nil, err
	}
	o := check.Options{Dir: dir, Patterns: []string{"./..."}}
	o.Bench = regexp.MustCompile("NoSuch")
	static, err := check.Run(context.Background(), o)
	if err != nil {
		return nil, err
	}
	o.Bench = regexp.MustCompile("^Benchmark")
	runs, err := check.Run(context.Background(), o)
	if err != nil {
		return nil, err
	}
	d := &documents{static: findings.New(static), runs: findings.New(runs)}
	runs.Strict = true
	d.strict = findings.New(runs)
	return d, nil
})

func write(dir, name, text string) error {
	name = filepath.Join(dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	return errors.Join(err, os.WriteFile(name, []byte(text), 0o644))
}

// examine returns the documents of the module.
func examine(t *testing.T) *documents {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	d, err := examined()
	must.Succeed(t, err)
	return d
}

// rootsOf returns the roots in one file, by their names.
func rootsOf(d *findings.Document, file string) map[string]*findings.Root {
	prefix := modulePath + "/" + path.Dir(file) + "."
	out := map[string]*findings.Root{}
	for _, r := range d.Roots {
		if r.File == file {
			out[strings.TrimPrefix(r.ID, prefix)] = r
		}
	}
	return out
}

// leavesOf returns the leaves of one package, by their names.
func leavesOf(d *findings.Document, pkg string) map[string]findings.Leaf {
	out := map[string]findings.Leaf{}
	for _, l := range d.Toolchains[0].Leaves {
		if l.Package == modulePath+"/"+pkg {
			out[l.Name] = l
		}
	}
	return out
}

// compareWorst compares what the worst site of each root in a file lacks, or
// its verdict.
func compareWorst(t *testing.T, d *findings.Document, file string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name, r := range rootsOf(d, file) {
		got[name] = worst(r)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", file, got, want)
	}
}

// Evidence that is missing is reported, and no other.
func TestTroubleIsReported(t *testing.T) {
	d := examine(t)
	got := d.static.Toolchains[0].Trouble
	if !slices.Equal(got, []string{"--bench NoSuch matches nothing in these packages"}) {
		t.Errorf("without runs: got %q, want what matches nothing", got)
	}
	got = d.runs.Toolchains[0].Trouble
	var packages []string
	for _, text := range got {
		text, _ = strings.CutPrefix(text, "not measured: example.com/m/")
		pkg, _, _ := strings.Cut(text, ": ")
		packages = append(packages, pkg)
	}
	if !slices.Equal(packages, []string{"broken", "unlinked", "unread"}) {
		t.Errorf("with runs: got %q, want the three packages that do not build", got)
	}
}
