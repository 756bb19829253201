// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/edges"
	"github.com/nib-log/nib/allocs/internal/kept"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// resolver returns the function that finds the callees of dynamic calls. The
// table is made for the first such call that a root reaches: to make it takes
// most of the time of a check, and many roots reach none.
func (s *session) resolver(ctx context.Context, tc *toolchain.Toolchain) verdict.Resolve {
	return func(p *binary.Program, at binary.Frame) ([]*binary.Func, bool) {
		table := s.table(ctx)
		if table == nil {
			return nil, false
		}
		callees, ok := table.At(at.Func, at.File, at.Line, tc.GOROOT, tc.Version)
		if !ok || len(callees) >= edges.Most {
			return nil, false
		}
		var out []*binary.Func
		for _, c := range callees {
			if c.Name != "" {
				out = append(out, p.Lookup(c.Name)...)
			} else {
				out = append(out, p.Literals(strings.Replace(c.File, "$GOROOT", tc.GOROOT, 1), c.Line)...)
			}
		}
		return out, true
	}
}

// table returns the callees of dynamic calls, or nil after an error, which it
// keeps. The analysis runs once, for the current toolchain.
func (s *session) table(ctx context.Context) *edges.Table {
	if s.edges == nil && s.noEdges == nil {
		s.step("following dynamic calls")
		s.edges, s.noEdges = s.analyse(ctx)
	}
	return s.edges
}

// analyse makes the table, unless it is kept: it depends on the packages and on
// nothing else.
func (s *session) analyse(ctx context.Context) (*edges.Table, error) {
	host, err := toolchain.Find(ctx, s.Dir, "")
	if err != nil {
		return nil, err
	}
	place := s.edgesPlace(ctx, host)
	t := new(edges.Table)
	if kept.Read(place, t) {
		return t, nil
	}
	t, err = edges.Build(ctx, edges.Config{
		Dir: s.Dir, Patterns: s.Patterns, GOROOT: host.GOROOT, Version: host.Version,
	})
	if err == nil && place != "" {
		kept.Write(place, t)
	}
	return t, err
}

// edgesPlace returns the place of the table for the packages as they are, by
// their build IDs.
func (s *session) edgesPlace(ctx context.Context, host *toolchain.Toolchain) string {
	args := []string{"list", "-export", "-deps", "-test", "-f", "{{.ImportPath}} {{.BuildID}}", "--"}
	ids, err := host.Go(ctx, s.Dir, append(args, s.Patterns...)...)
	if err != nil || s.Cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Dir + "\n" + host.Version + "\n" + string(ids)))
	return filepath.Join(s.Cache, "edges", fmt.Sprintf("%x", sum))
}
