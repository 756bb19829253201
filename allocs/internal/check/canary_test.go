// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// TestCanary takes each source of evidence away in turn: a canary that still
// passed would hide a broken check.
func TestCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	for name, text := range map[string]string{
		"go.mod": "module canary.invalid\n\ngo 1.17\n", "main.go": "package main\n\nfunc main() {}\n",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, dir, "")
	must.Succeed(t, err)
	s := &session{Options: Options{Dir: dir, Patterns: []string{"."}}}
	s.home, s.report = &load.Home{Dir: dir}, &Report{ModuleDir: dir}
	s.report.Broken = map[string]string{}
	must.Succeed(t, s.list(ctx, []*toolchain.Toolchain{tc}))
	evidence, err := s.static(ctx, tc, s.near[0], s.near[0], t.TempDir())
	must.Succeed(t, err)
	for name, kill := range map[string]func(in *verdict.Input){
		"the compiler is silent":      func(in *verdict.Input) { in.Escapes = compiler.NewIndex(nil) },
		"the executable is not there": func(in *verdict.Input) { in.Programs = nil },
		"everything is waived":        func(in *verdict.Input) { in.Waived = func(binary.Frame) bool { return true } },
	} {
		in := *evidence
		kill(&in)
		if err := judgeCanary(&in, "canary.invalid/allocs_canary"); !errors.Is(err, ErrCanary) {
			t.Errorf("%s: got %v, want %v", name, err, ErrCanary)
		}
	}
}
