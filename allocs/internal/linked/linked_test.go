// SPDX-License-Identifier: Apache-2.0

package linked

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBuild(t *testing.T) {
	s := Store(filepath.Join(t.TempDir(), "linked"))
	stale := filepath.Join(string(s), "stale")
	// place builds an executable that is to hold text, as the go command does:
	// it replaces the file only if that is not the one.
	place := func(key, text string) (built bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "program")
		err := s.Build(map[string]string{path: key}, func() error {
			if there, err := os.ReadFile(path); err == nil && string(there) == text {
				return nil
			}
			built = true
			if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		})
		got, rerr := os.ReadFile(path)
		if err != nil || rerr != nil || string(got) != text {
			t.Errorf("%s: got %q, %v, %v, want %q", key, got, err, rerr, text)
		}
		return built
	}
	for i, step := range []struct {
		key, text string
		built     bool
	}{
		{"a", "one", true}, {"a", "one", false}, {"b", "one", true}, {"a", "two", true}, {"a", "two", false}, {"b", "one", false},
	} {
		if got := place(step.key, step.text); got != step.built {
			t.Errorf("step %d: built %v, want %v", i, got, step.built)
		}
	}
	if err := os.WriteFile(stale, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-unused - time.Hour)
	for _, name := range []string{stale, s.place("a")} {
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	place("a", "two") // it is used
	place("c", "three")
	if _, err := os.Stat(stale); err == nil {
		t.Error("an unused file is kept")
	}
	if place("a", "two") {
		t.Error("what is used is not kept")
	}
}

func TestWithoutAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	for range 2 {
		if err := Store("").Build(map[string]string{path: "a"}, func() error {
			if _, err := os.Stat(path); err == nil {
				t.Error("something is there")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
