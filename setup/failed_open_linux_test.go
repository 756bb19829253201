// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// TestFailedOpenLeavesNothing opens outputs of each kind, and a file that
// cannot be opened: afterwards the directory is as it was before.
func TestFailedOpenLeavesNothing(t *testing.T) {
	for _, before := range []bool{false, true} {
		dir := t.TempDir()
		output := []string{
			"file:" + dir + "/logs/app.log?spool=" + dir + "/spool",
			"file:" + dir + "/logs/other.log",
			"syslog+tcp://127.0.0.1:1?spool=" + dir + "/second",
			"spool:" + dir + "/kept",
		}
		if before { // the files are there already
			l := mustOpen(t, Config{Output: output[:2]})
			l.Info().Msg("a line")
			must.Succeed(t, l.Close())
		}
		want := tree(t, dir)
		must.Succeed(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		_, err := Open(Config{Output: append(output, "file:"+dir+"/file/app.log")})
		if err == nil {
			t.Fatal("a file in a file was opened")
		}
		must.Succeed(t, os.Remove(filepath.Join(dir, "file")))
		if got := tree(t, dir); !slices.Equal(got, want) {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
	}
}

// tree returns the names below dir, without copies of segments, which may be
// made for lines that are there.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != ".copy" {
			names = append(names, path)
		}
		return err
	})
	must.Succeed(t, err)
	return names
}
