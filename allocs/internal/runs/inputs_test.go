// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestInputs(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "p")
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(root, "log")
	text := "# test log\ngetenv INPUT\ngetenv NIB_ALLOCS_TEST\nopen a\nstat ../b\nopen " + filepath.Join(dir, "c") +
		"\nopen ../../outside\nopen /dev/null\nstat sub\nchdir sub\nopen d\nopen cut of"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INPUT", "1")
	in := inputs{}
	in.add(log, dir, root)
	in.add(filepath.Join(root, "none"), dir, root)
	var want []string
	for _, f := range []string{"p/a", "b", "p/c", "p/sub", "p/sub/d"} {
		want = append(want, "file "+filepath.Join(root, filepath.FromSlash(f)))
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(in)); !slices.Equal(got, append([]string{"env INPUT"}, want...)) {
		t.Errorf("got %q, want INPUT and %q", got, want)
	}
	if !in.same() {
		t.Error("nothing has changed: got a difference")
	}
	for _, change := range []func() error{
		func() error { return os.Setenv("INPUT", "") },
		func() error { return os.Unsetenv("INPUT") },
		func() error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o600) },
		func() error { return os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600) },
		func() error { return os.WriteFile(filepath.Join(sub, "e"), nil, 0o600) },
		func() error { return os.Remove(filepath.Join(dir, "a")) },
	} {
		now := inputs{}
		now.add(log, dir, root)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if now.same() {
			t.Error("an input has changed: got no difference")
		}
	}
}
