// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// ErrNoModule means that a directory belongs to no module or workspace.
var ErrNoModule = errors.New("not inside a Go module")

// Home is the module or workspace that a directory belongs to.
type Home struct {
	Dir     string   // directory of go.mod or go.work
	Modules []Module // modules of a workspace; none for a module
}

// Module is a module of a workspace.
type Module struct{ Path, Dir string }

// Find returns the module that dir belongs to. Outside of one, it returns the
// modules of the workspace that are below dir, or all when it is that of
// go.work.
func Find(ctx context.Context, tc *toolchain.Toolchain, dir string) (*Home, error) {
	out, err := tc.Go(ctx, dir, "env", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	mod, work, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\n")
	if filepath.Base(mod) == "go.mod" {
		return &Home{Dir: filepath.Dir(mod)}, nil
	}
	if work == "" || work == "off" {
		_, err := tc.Go(ctx, dir, "list", ".") // the error states what to do
		return nil, fmt.Errorf("%s: %w: %s", dir, ErrNoModule, toolchain.Said(err))
	}
	if out, err = tc.Go(ctx, dir, "list", "-m", "-f", "{{.Path}}\t{{.Dir}}"); err != nil {
		return nil, err
	}
	h := &Home{Dir: filepath.Dir(work)}
	var elsewhere []string
	for line := range strings.Lines(string(out)) {
		name, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if dir == h.Dir || Within(at, dir) {
			h.Modules = append(h.Modules, Module{name, at})
		} else {
			elsewhere = append(elsewhere, at)
		}
	}
	if len(h.Modules) == 0 {
		return nil, fmt.Errorf("%s: %w; those of %s are in %s", dir, ErrNoModule, work,
			strings.Join(elsewhere, ", "))
	}
	return h, nil
}

// Patterns returns the patterns of the user. In a workspace, "./..." means all
// packages of its modules: to the go command it means nothing outside of a
// module.
func (h *Home) Patterns(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		if len(h.Modules) == 0 || p != "./..." {
			out = append(out, p)
			continue
		}
		for _, m := range h.Modules {
			out = append(out, m.Dir+string(filepath.Separator)+"...")
		}
	}
	return out
}

// Holds reports whether a file is one of the modules.
func (h *Home) Holds(file string) bool {
	if len(h.Modules) == 0 {
		return Within(file, h.Dir)
	}
	return slices.ContainsFunc(h.Modules, func(m Module) bool { return Within(file, m.Dir) })
}

// Name returns the path that all modules of a workspace begin with, or the name
// of its directory if there is none; "" for a single module.
func (h *Home) Name() string {
	if len(h.Modules) == 0 {
		return ""
	}
	common := h.Modules[0].Path
	for _, m := range h.Modules {
		for common != "." && m.Path != common && !strings.HasPrefix(m.Path, common+"/") {
			common = path.Dir(common)
		}
	}
	if common == "." {
		return filepath.Base(h.Dir)
	}
	return common
}

// Within reports whether a path is dir or below it.
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
