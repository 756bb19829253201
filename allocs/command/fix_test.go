// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
)

// Every edit that is known is found at the lines of testdata/fix, which has a
// benchmark for each, and is proved to help.
func TestEveryFixHelps(t *testing.T) {
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("set NIB_E2E=short: it measures a module twice")
	}
	dir := newModule(t)
	for _, name := range []string{"go.mod", "fix.go", "fix_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", "fix", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	code, out, errs := run(t, dir, "", "--plain", "--fix")
	if code != command.Clean || strings.Contains(errs, "taken back") {
		t.Errorf("got exit code %d, want %d and nothing taken back\n%s%s", code, command.Clean, out, errs)
	}
	for _, name := range []string{"Stamp", "Append", "Print", "IsGet", "Double", "Name", "Same", "Match", "Sort", "Copy", "Rome", "Pooled", "Log"} {
		if !strings.Contains(errs, "fix."+name+" allocates") {
			t.Errorf("%s was not rewritten\n%s", name, errs)
		}
	}
}
