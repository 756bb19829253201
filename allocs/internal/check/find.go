// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"maps"
	"slices"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/roots"
)

// find searches for roots, in files that are no tests.
func find(ctx context.Context, o Options) (*roots.Set, error) {
	src, err := load.Typed(ctx, o.Dir, o.Patterns)
	if err != nil {
		return nil, err
	}
	return roots.Find(src, o.Roots, o.LogCalls)
}

// intact returns the packages that build on every toolchain, and why the others
// do not.
func intact(ctx context.Context, o Options) (paths []string, broken map[string]string) {
	tcs, err := toolchains(ctx, o)
	if err != nil {
		return nil, nil
	}
	home, err := load.Find(ctx, tcs[0], o.Dir)
	if err != nil {
		return nil, nil
	}
	broken = map[string]string{}
	all := map[string]bool{}
	for _, tc := range tcs {
		some, why, err := load.Intact(ctx, tc, o.Dir, home.Patterns(o.Patterns))
		if err != nil {
			return nil, nil
		}
		for _, p := range some {
			all[p] = true
		}
		maps.Copy(broken, why)
	}
	maps.DeleteFunc(all, func(p string, _ bool) bool { return broken[p] != "" })
	return slices.Sorted(maps.Keys(all)), broken
}
