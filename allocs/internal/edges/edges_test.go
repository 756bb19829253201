// SPDX-License-Identifier: Apache-2.0

package edges_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/nib-log/nib/allocs/internal/edges"
)

func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source := "package m\n\ntype I interface{ M() }\n\ntype A struct{}\n\nfunc (A) M() {}\n\ntype B struct{}\n\nfunc (*B) M() {}\n\nfunc Call(i I) {\n\ti.M() // line 14\n}\n\nfunc Use() {\n\tCall(&B{})\n\tf := func() {} // line 19\n\trun(f)\n}\n\nfunc run(f func()) {\n\tf() // line 24\n}\n"
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "m.go")
	c := edges.Config{Dir: dir, Patterns: []string{"./..."}, GOROOT: "/goroot", Version: "go1"}
	table, err := edges.Build(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int][]edges.Callee{
		14: {{Name: "example.com/m.(*B).M"}}, // A is never made an I
		24: {{File: file, Line: 19}},
	} {
		got, ok := table.At("", file, line, "/goroot", "go1")
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("line %d: got %v, %v, want %v", line, got, ok, want)
		}
	}
	if _, ok := table.At("", file, 3, "/goroot", "go1"); ok {
		t.Error("a line without a call is known")
	}
}
