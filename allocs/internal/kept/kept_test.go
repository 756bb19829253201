// SPDX-License-Identifier: Apache-2.0

package kept

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOldResultsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"old": Age + time.Hour, "young": Age - time.Hour, "used": Age + time.Hour,
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
	if !Read(filepath.Join(dir, "used"), &got) || got != "text" {
		t.Errorf("got %q", got)
	}
	Write(filepath.Join(dir, "new"), "new text")
	for name, want := range map[string]string{
		"old": "", "young": "text", "used": "text", "new": "new text",
	} {
		got = ""
		if ok := Read(filepath.Join(dir, name), &got); ok != (want != "") || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, want)
		}
	}
	Write(filepath.Join(dir, "cannot", "be\x00made", "x"), "text") // no panic
}
