// SPDX-License-Identifier: Apache-2.0

//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// Two outputs that are one file would tear each other's lines and rotate each
// other's backups, whatever names they have.
func TestTwoOutputsOfOneFileAreAFault(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(in("logs"), 0o700),
		os.WriteFile(in("logs/app.log"), nil, 0o600),
		os.Symlink("logs", in("link")),
		os.Symlink("logs/app.log", in("current")),
		os.Link(in("logs/app.log"), in("hard")),
		os.Symlink("logs/later.log", in("dangling")),
	} {
		must.Succeed(t, err)
	}
	t.Chdir(dir)
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"logs/app.log", "logs/app.log", true},
		{"logs/app.log", "./logs/../logs/app.log", true},
		{"logs/app.log", in("logs/app.log"), true},
		{"logs/app.log", "link/app.log", true},
		{"logs/app.log", "current", true},
		{"hard", "logs/app.log", true},
		{"logs/new.log", "link/new.log", true},
		{"logs/later.log", "dangling", true},
		{"logs/new/dir.log", in("link/new/dir.log"), true},
		{"logs/app.log", "logs/other.log", false},
		{"logs/new.log", "new.log", false},
		{"dangling", "current", false},
	} {
		_, err := Read(Config{Output: []string{"file:" + tt.a, "stdout", "file:" + tt.b}})
		same := err != nil && strings.Contains(err.Error(), "is this file already")
		if same != tt.same {
			t.Errorf("%s and %s: got error %v, want one: %v", tt.a, tt.b, err, tt.same)
		}
	}
}
