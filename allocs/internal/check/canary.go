// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/program"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

//go:embed canary/canary.go.txt
var canarySource string

// ErrCanary means that a toolchain does not show allocations that are known to
// exist, so its silence about the user's code would mean nothing.
var ErrCanary = errors.New("the canary was not found: this toolchain cannot be checked")

// canaryWants lists the expected findings in the canary, by function.
var canaryWants = map[string]struct {
	verdict.Finding
	escape bool // the compiler must report it, too
}{
	"Allocates": {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}, true},
	"Boxes":     {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}, true},
	"Grows":     {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Size}, false},
	"Panics":    {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.First}, false},
	"Free":      {verdict.Finding{Verdict: verdict.None}, false},
}

// writeCanary writes the module with known answers.
func writeCanary(dir, language string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module canary.invalid/canary\n\ngo "+language+"\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "canary.go"), []byte(canarySource), 0o644)
}

// canary runs all static stages on a module with known answers.
func canary(ctx context.Context, tc *toolchain.Toolchain, work string) error {
	tc, dir := tc.Alone(), filepath.Join(work, "canary")
	if err := writeCanary(dir, "1.20"); err != nil {
		return err
	}
	in, err := canaryEvidence(ctx, tc, dir, work)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCanary, err)
	}
	return judgeCanary(in)
}

func canaryEvidence(ctx context.Context, tc *toolchain.Toolchain, dir, work string) (*verdict.Input, error) {
	pkgs, err := load.List(ctx, tc, dir, nil, []string{"."})
	if err != nil {
		return nil, err
	}
	c := &compiler.Collector{Toolchain: tc, Work: work, Dir: dir}
	escapes, err := c.Collect(ctx, pkgs)
	if err != nil {
		return nil, err
	}
	out := dir + "-build" // outside of the module, or the overlay would be part of it
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	b, err := program.Prepare(pkgs, out)
	if err != nil {
		return nil, err
	}
	if err := b.Link(ctx, tc, dir, out); err != nil {
		return nil, err
	}
	p, err := binary.Open(b.Executables[0], "")
	if err != nil {
		return nil, err
	}
	return &verdict.Input{
		Programs: []*binary.Program{p},
		Escapes:  compiler.NewIndex(escapes),
		InModule: func(file string) bool { return strings.HasPrefix(file, dir) },
		Waived:   func(binary.Frame) bool { return false },
	}, nil
}

func judgeCanary(in *verdict.Input) error {
	for name, want := range canaryWants {
		r := in.Root(roots.Root{Kind: roots.Named, Func: "canary.invalid/canary." + name})
		if r.Absent {
			return fmt.Errorf("%w: %s is not in the executable", ErrCanary, name)
		}
		got, escape := verdict.Finding{Verdict: verdict.None}, false
		for _, s := range r.Sites {
			got = got.Or(s.Finding)
			escape = escape || s.Evidence.Escape != nil
		}
		if got != want.Finding || want.escape && !escape {
			return fmt.Errorf("%w: %s: got %v (compiler: %v), want %v (compiler: %v)", ErrCanary, name, got, escape, want.Finding, want.escape)
		}
	}
	return nil
}
