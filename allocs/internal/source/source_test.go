// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/source"
)

const text = `package p

import ("errors"; "fmt"; "sync")

var made = make([]int, 9)

var pool = sync.Pool{New: func() any {
	return new(int)
}}

type t struct{ m map[int]int; once sync.Once }

func (x *t) f(n int) error {
	if err := x.g(); err != nil {
		return fmt.Errorf("more: %w", err)
	}
	if x.m == nil {
		x.m = map[int]int{}
	}
	x.once.Do(func() {
		x.m[1] = 1
	})
	var local []int
	if local == nil {
		local = make([]int, n)
	}
	x.m[len(local)] =
		n
	if n > 5 {
		panic(fmt.Sprint(n))
	}
	return errors.New("x")
}

func init() {
	made[0] = 1
}

func (x *t) g() error { return nil }

var handler func()

func init() {
	handler = func() {
		made = make([]int, 9)
	}
}

func (x *t) h() {
	var fresh t
	if fresh.m == nil {
		fresh.m = map[int]int{}
	}
	made := &t{}
	if made.m == nil {
		made.m = map[int]int{}
	}
	had := x
	if had.m == nil {
		had.m = map[int]int{}
	}
}
`

func file(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "p.go")
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

func TestStatementIsOneLine(t *testing.T) {
	name, fs := file(t), source.New()
	if got, want := fs.Statement(name, 28), "x.m[len(local)] = n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fs.Line(name, 28), "n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	fs := source.New()
	if got := fs.Line(filepath.Join(t.TempDir(), "none.go"), 1); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	if got := fs.Statement("", 1); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
