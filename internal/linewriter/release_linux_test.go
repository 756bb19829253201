// SPDX-License-Identifier: Apache-2.0

package linewriter

import (
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// TestReaderSeesTheEndOfARedirectedStream reads the standard output of a
// program up to the end, which comes when the program has closed the descriptor
// or directed it elsewhere, as a daemon does, or a test that captures output.
// No further line is written that would notice it.
func TestReaderSeesTheEndOfARedirectedStream(t *testing.T) {
	const line = "{\"message\":\"text\"}\n"
	for name, end := range map[string]func(t *testing.T, f *os.File){
		"closed": func(t *testing.T, f *os.File) {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		},
		"redirected": func(t *testing.T, f *os.File) {
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			must.Succeed(t, err)
			defer null.Close()
			if err := syscall.Dup3(int(null.Fd()), int(f.Fd()), syscall.O_CLOEXEC); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, f, err := os.Pipe()
			must.Succeed(t, err)
			defer r.Close()
			defer f.Close()
			w := ofStream(f)
			if _, err := w.Write([]byte(line), 0); err != nil {
				t.Fatal(err)
			}
			end(t, f)
			if b, err := io.ReadAll(r); string(b) != line || err != nil {
				t.Errorf("got %q, %v, want %q", b, err, line)
			}
		})
	}
}
