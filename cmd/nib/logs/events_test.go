// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/await"
)

// Without a poll, events alone make lines, renamed files and new files of a
// pattern arrive.
func TestTailIsWokenByEvents(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	s := logs.Selection{Poll: time.Hour, Report: t.Errorf}
	s.UseEvents(t.Context())
	put(t, path, "1\n")
	out := tail(t, s, 10, filepath.Join(dir, "*.log"))
	arrives := func(want string) {
		t.Helper()
		got := ""
		await.Until(t, want+"arrives", func() bool {
			got += out.take()
			return got == want
		})
	}
	arrives("1 ")
	put(t, path, "2\n")
	arrives("2 ")
	ok(t, os.Rename(path, path+".1"))
	put(t, path, "4\n")
	put(t, path+".1", "3\n") // its writer has not noticed the renaming
	arrives("3 4 ")
	put(t, filepath.Join(dir, "new.log"), "5\n")
	arrives("5 ")
}
