// SPDX-License-Identifier: Apache-2.0

// Package stdiotest makes pipes for tests of standard output and standard
// error.
package stdiotest

import (
	"os"
	"testing"
)

// Pipe returns a pipe in blocking mode, like the standard output of a service.
func Pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Fd() // switches to blocking mode
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
