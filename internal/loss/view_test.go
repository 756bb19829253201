// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"runtime"
	"testing"

	"github.com/nib-log/nib/internal/loss"
)

// A notice is written whatever the view does, and ends its line.
func TestAppendView(t *testing.T) {
	const line, json = `{"n":1}` + "\n", "\n" + `{"n":1}` + "\n"
	for _, tt := range []struct {
		name string
		view func(dst, line []byte) []byte
		want string
	}{
		{"none", nil, json},
		{"text", func(dst, line []byte) []byte { return append(dst, "text\n"...) }, "\ntext\n"},
		{"panics", func(dst, line []byte) []byte { panic("boom") }, json},
		{"panics half-way", func(dst, line []byte) []byte { _ = append(dst, "text"...); panic("boom") }, json},
		{"ends its goroutine", func(dst, line []byte) []byte { runtime.Goexit(); return nil }, json},
		{"nothing", func(dst, line []byte) []byte { return dst }, json},
		{"nil", func(dst, line []byte) []byte { return nil }, json},
		{"no newline", func(dst, line []byte) []byte { return append(dst, "text"...) }, json},
	} {
		dst := append(make([]byte, 0, 100), '\n')
		if got := string(loss.AppendView(dst, []byte(line), tt.view)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
