// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOldResultsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"old": keepAge + time.Hour, "young": keepAge - time.Hour, "used": keepAge + time.Hour,
	} {
		place, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := os.WriteFile(place, []byte(`"text"`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(place, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var got string
	if !read(filepath.Join(dir, "used"), &got) || got != "text" {
		t.Errorf("got %q", got)
	}
	write(filepath.Join(dir, "new"), "new text")
	for name, want := range map[string]string{
		"old": "", "young": "text", "used": "text", "new": "new text",
	} {
		got = ""
		if ok := read(filepath.Join(dir, name), &got); ok != (want != "") || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, want)
		}
	}
	write(filepath.Join(dir, "cannot", "be\x00made", "x"), "text") // no panic
}
