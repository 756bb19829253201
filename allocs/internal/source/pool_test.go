// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/source"
)

func TestPoolNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p[1]") // not a pattern
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.go": `package p

import "sync"

var pool = sync.Pool{New: func() any {
	return new(int)
}}

var none sync.Pool

type t struct{ pool2 *sync.Pool }
`,
		"b.go": `package p

func f(x *t) {
	_ = pool.Get().(*int)
	_ = x.pool2.Get()
	_ = none.Get()
	_ = len("x")
}

var made = &t{
	pool2: &sync.Pool{
		New: func() any { return 1 },
	},
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fs := source.New()
	for _, c := range []struct {
		line int
		file string
		at   int
	}{{4, "a.go", 5}, {5, "b.go", 12}, {6, "", 0}, {7, "", 0}} {
		file, at, ok := fs.PoolNew(filepath.Join(dir, "b.go"), c.line)
		if ok != (c.file != "") || at != c.at || ok && filepath.Base(file) != c.file {
			t.Errorf("line %d: got %s:%d, %v, want %s:%d", c.line, file, at, ok, c.file, c.at)
		}
	}
}
