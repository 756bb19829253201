// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// TestCanary takes each source of evidence away in turn: a canary that still
// passed would hide a broken check.
func TestCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	work := t.TempDir()
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, work, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := canary(ctx, tc, work); err != nil {
		t.Fatal(err)
	}
	evidence, err := canaryEvidence(ctx, tc, work+"/canary", work)
	if err != nil {
		t.Fatal(err)
	}
	for name, kill := range map[string]func(in *verdict.Input){
		"the compiler is silent":      func(in *verdict.Input) { in.Escapes = compiler.NewIndex(nil) },
		"the executable is not there": func(in *verdict.Input) { in.Programs = nil },
		"everything is waived":        func(in *verdict.Input) { in.Waived = func(binary.Frame) bool { return true } },
		"no line is in the module":    func(in *verdict.Input) { in.InModule = func(string) bool { return false } },
	} {
		in := *evidence
		kill(&in)
		if err := judgeCanary(&in); !errors.Is(err, ErrCanary) {
			t.Errorf("%s: got %v, want %v", name, err, ErrCanary)
		}
	}
}
