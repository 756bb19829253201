// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// logDir is the directory of the tests' sinks in memory.
var logDir = filepath.Join(string(filepath.Separator), "log")

// livePath is the live file there.
var livePath = filepath.Join(logDir, "app.log")

// newMem returns a file system with logDir, and a clock that stands still.
func newMem(t testing.TB) (*vfstest.Mem, *testClock) {
	t.Helper()
	c := newTestClock()
	m := vfstest.NewMem(c.now)
	must(t, m.MkdirAll(logDir, 0o700))
	return m, c
}

// replacesOnly makes m a file system whose renames always replace.
func replacesOnly(m *vfstest.Mem) {
	m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Err: errors.ErrUnsupported})
}

// openMem opens livePath in m.
func openMem(t testing.TB, m vfs.FS, clock *testClock, c Config) *Sink {
	t.Helper()
	c.fs, c.clock = m, clock.clock()
	if c.boot == 0 {
		c.boot = 1
	}
	return open(t, livePath, c)
}

// memFiles returns the names in logDir, without the lock and the claims.
func memFiles(t testing.TB, m vfs.FS) []string {
	t.Helper()
	names, err := m.ReadDir(logDir)
	must(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return name == lockName("app.log") || name == claimsName("app.log") })
}

// lockOf takes the lock of the log, like a process that rotates it.
func lockOf(t testing.TB, m vfs.FS) vfs.File {
	t.Helper()
	f, err := m.Open(filepath.Join(logDir, lockName("app.log")), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	must(t, f.Lock(vfs.Exclusive))
	return f
}

// memAll returns the text of all logs in logDir, decompressed, oldest first,
// without temporary files of compressions.
func memAll(t testing.TB, m vfs.FS) string {
	t.Helper()
	var b strings.Builder
	for _, name := range memFiles(t, m) {
		text := memText(t, m, filepath.Join(logDir, name))
		if strings.HasSuffix(name, ".tmp") {
			continue
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader([]byte(text)))
			must(t, err)
			plain, err := io.ReadAll(z)
			must(t, err)
			text = string(plain)
		}
		b.WriteString(text)
	}
	return b.String()
}

// put writes a text to the front of a file.
func put(t testing.TB, m vfs.FS, path, text string) {
	t.Helper()
	f, err := m.Open(path, os.O_WRONLY|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt([]byte(text), 0)
	must(t, err, f.Close())
}
