// SPDX-License-Identifier: Apache-2.0

package check

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/edges"
)

func TestTableOfDynamicCallsIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, cache := t.TempDir(), t.TempDir()
	if err := writeCanary(dir, "1.20"); err != nil {
		t.Fatal(err)
	}
	s := &session{Options: Options{Dir: dir, Patterns: []string{"./..."}, Cache: cache}}
	analyse := func() *edges.Table {
		t.Helper()
		table, err := s.analyse(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	first := analyse()
	places, err := filepath.Glob(filepath.Join(cache, "edges", "*"))
	if err != nil || len(places) != 1 || first.Version == "kept" {
		t.Fatalf("got %q, %v and version %s", places, err, first.Version)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(places[0], `{"Version":"kept"}`)
	if got := analyse().Version; got != "kept" {
		t.Errorf("got version %s, want the table that is kept", got)
	}
	write(filepath.Join(dir, "more.go"), "package canary\n\nfunc more(f func()) { f() }\n")
	if got := analyse().Version; got != first.Version {
		t.Errorf("the code has changed: got version %s, want %s", got, first.Version)
	}
	s.Cache = ""
	if got := analyse().Version; got != first.Version {
		t.Errorf("without a cache: got version %s, want %s", got, first.Version)
	}
}
