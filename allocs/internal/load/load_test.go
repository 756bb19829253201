// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/internal/load"
)

func TestTestsHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m[1]") // not a pattern
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"m_test.go": "//alloc:none", "m.go": "//alloc:max=1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := &load.Source{Packages: []*packages.Package{{Dir: dir}}}
	for text, want := range map[string]bool{"//alloc:none": true, "//alloc:max": false} {
		if got := s.TestsHold(text); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
