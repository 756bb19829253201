// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
)

// The package's slices.go has generic code of the library's compiled into it,
// which has the same name for its answer. The directory comes before the
// library's by name, and the last file is the one that stays.
func TestCollectOverwritten(t *testing.T) {
	tc, dir, _ := module(t, "package m\n\nimport \"slices\"\n\nvar kept, all []int\n\nfunc F() {\n\tkept = slices.Concat(all, all)\n\tkept = make([]int, 100)\n}\n")
	if err := os.Rename(filepath.Join(dir, "m.go"), filepath.Join(dir, "slices.go")); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	pkgs, _, err := load.List(ctx, tc, dir, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{Toolchain: tc, Work: t.TempDir(), Dir: dir}
	all, err := c.Collect(ctx, pkgs)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range all["example.com/m"] {
		if at := e.Stack[0]; at.File == filepath.Join(dir, "slices.go") && at.Line == 9 && e.What == "make([]int, 100)" && len(e.Reasons) > 0 {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the slice was found %d times, want once: %+v", found, all["example.com/m"])
	}
}
