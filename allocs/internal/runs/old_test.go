// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/load"
)

func TestOldResultsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"old": keepAge + time.Hour, "young": keepAge - time.Hour, "used": keepAge + time.Hour,
	} {
		place, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := os.WriteFile(place, []byte(`{"Visited":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(place, at, at); err != nil {
			t.Fatal(err)
		}
	}
	b := &Binary{Package: new(load.Package)}
	if _, ok := b.Load(filepath.Join(dir, "used")); !ok {
		t.Error("the result is not valid")
	}
	write(filepath.Join(dir, "new"), Kept{Visited: Visited{}})
	for name, want := range map[string]bool{
		"old": false, "young": true, "used": true, "new": true,
	} {
		if _, ok := b.Load(filepath.Join(dir, name)); ok != want {
			t.Errorf("%s: got %v, want %v", name, ok, want)
		}
	}
	write(filepath.Join(dir, "cannot", "be\x00made", "x"), Kept{}) // no panic
}
