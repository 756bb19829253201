// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/roots"
)

// ErrNoRoots says that there is nothing to look at.
var ErrNoRoots = errors.New("no roots: no log calls, no //alloc: comments, no --root and no benchmarks")

// find looks for roots. Test files are loaded only when they hold one: by a comment,
// by a name that is nowhere else, or because there are only benchmarks.
func find(ctx context.Context, o Options) (*roots.Set, error) {
	src, err := load.Typed(ctx, o.Dir, o.Patterns, false)
	if err != nil {
		return nil, err
	}
	set, err := roots.Find(src, o.Roots, o.LogCalls)
	inTests := src.TestsHold("//alloc:") || errors.Is(err, roots.ErrNoFunction)
	if err != nil && !inTests {
		return nil, err
	}
	if !inTests && len(set.Roots) > 0 {
		return set, nil
	}
	if src, err = load.Typed(ctx, o.Dir, o.Patterns, true); err != nil {
		return nil, err
	}
	if set, err = roots.Find(src, o.Roots, o.LogCalls); err != nil {
		return nil, err
	}
	if len(set.Roots) == 0 && o.Bench != nil {
		set = roots.Benchmarks(src, o.Bench)
	}
	if len(set.Roots) == 0 {
		return nil, ErrNoRoots
	}
	return set, nil
}

// inTests are the directories of the packages whose test files hold roots.
func inTests(set *roots.Set) map[string]bool {
	dirs := map[string]bool{}
	for _, r := range set.Roots {
		if load.IsTest(r.File) {
			dirs[filepath.Dir(r.File)] = true
		}
	}
	return dirs
}
