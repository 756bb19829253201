// SPDX-License-Identifier: Apache-2.0

package roots_test

import (
	"go/build"
	"os/exec"
	"testing"
)

// The go command compiles cgo's output for such a file, which is elsewhere.
func TestFindInFilesThatUseC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil || !build.Default.CgoEnabled {
		t.Skip("there is no cgo here")
	}
	t.Setenv("GOFLAGS", "") // with -trimpath, the cached output of cgo names the first directory
	set, file, err := find(t, `package m

/*
static int add(int a, int b) { return a + b; }
*/
import "C"

import "log/slog"

//alloc:none
func Add(a, b int) int {
	slog.Info("add")
	return int(C.add(C.int(a), C.int(b))) //alloc:ok once
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Roots) != 2 || set.Roots[0].ID != "example.com/m.Add" || set.Roots[0].File != file || set.Roots[0].Line != 11 || set.Roots[1].Line != 12 {
		t.Errorf("got roots %+v, want Add in line 11 and a log call in line 12 of %s", set.Roots, file)
	}
	for at := range set.Waivers {
		if at.File != file || at.Line != 13 {
			t.Errorf("got a waiver at %v, want line 13", at)
		}
	}
	if len(set.Waivers) != 1 {
		t.Errorf("got %d waivers, want 1", len(set.Waivers))
	}
}
