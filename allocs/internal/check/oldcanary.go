// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/outline"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// runBudget is the target time of one benchmark.
const runBudget = 300 * time.Millisecond

// oldCanaryBench runs on the canary, where the counts must also be exact.
const oldCanaryBench = `package canary

import "testing"

func BenchmarkAllocates(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Allocates(i)
	}
}

func BenchmarkFree(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Free(i)
	}
}
`

// strayed is the amount by which other goroutines can change the count of an
// operation if they run in one of two windows.
const strayed = 0.2

// oldWants lists the lines that -m=2 must show of the canary; it does not show
// growth.
var oldWants = map[string]verdict.Verdict{
	"Allocates": verdict.Always, "Boxes": verdict.Always, "Panics": verdict.Cold, "Free": verdict.None,
}

// oldCanary runs the stages for a release without readable executables on the
// module with known answers.
func oldCanary(ctx context.Context, tc *toolchain.Toolchain, work string, measure bool) error {
	tc, dir := tc.Alone(), filepath.Join(work, "canary")
	if err := writeCanary(dir, "1.13"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "canary_test.go"), []byte(oldCanaryBench), 0o644); err != nil {
		return err
	}
	in, err := oldEvidence(ctx, tc, dir, work, measure)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCanary, err)
	}
	return judgeOldCanary(in, measure)
}

func oldEvidence(ctx context.Context, tc *toolchain.Toolchain, dir, work string, measure bool) (*verdict.Input, error) {
	pkgs, err := load.List(ctx, tc, dir, nil, []string{"."})
	if err != nil {
		return nil, err
	}
	text, err := (&compiler.Collector{Toolchain: tc, Work: work, Dir: dir}).CollectText(ctx, pkgs)
	if err != nil {
		return nil, err
	}
	src, err := load.Typed(ctx, dir, []string{"."}, false, "GOWORK=off", "GOFLAGS=")
	if err != nil {
		return nil, err
	}
	in := &verdict.Input{
		InModule: func(file string) bool { return strings.HasPrefix(file, dir) },
		Cold:     coldness(source.New()),
		Waived:   func(binary.Frame) bool { return false },
	}
	in.Outline = outline.New(src, text, in.Cold, in.Waived).Root
	if !measure {
		return in, nil
	}
	o := runs.Options{Bench: regexp.MustCompile("."), Timeout: time.Minute, Budget: runBudget / 10}
	b, err := runs.Build(ctx, tc, pkgs[0], o, dir, work)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, errors.New("its benchmarks were not found")
	}
	in.Runs, err = b.Run(ctx, o, "")
	return in, err
}

func judgeOldCanary(in *verdict.Input, measured bool) error {
	for name, want := range oldWants {
		got := verdict.None
		for _, s := range in.Root(roots.Root{Kind: roots.Named, Func: "canary.invalid/canary." + name}).Sites {
			if s.Kind != verdict.Unseen && s.Verdict.Rank() > got.Rank() {
				got = s.Verdict
			}
		}
		if got != want {
			return fmt.Errorf("%w: %s: got %s, want %s", ErrCanary, name, got, want)
		}
	}
	if !measured {
		return nil
	}
	counts := map[string]float64{}
	for _, r := range in.Runs {
		counts[r.Name] = r.PerOp
	}
	for name, want := range map[string]float64{"BenchmarkAllocates": 1, "BenchmarkFree": 0} {
		if got, ok := counts[name]; !ok || math.Abs(got-want) > strayed {
			return fmt.Errorf("%w: %s: got %.2f allocations per operation (run: %v), want %.0f", ErrCanary, name, got, ok, want)
		}
	}
	return nil
}

// unknown returns the outline of a root in a package that the release does not
// compile.
func unknown(f failure) func(roots.Root) verdict.Outline {
	return func(roots.Root) verdict.Outline { return verdict.Outline{Unknown: f.why} }
}
