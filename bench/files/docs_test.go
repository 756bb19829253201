// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go code in the document on files must be that of the examples, which is
// compiled and run.
func TestDocumentedCodeIsThatOfTheExamples(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "files.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the documents lie outside of this module, of which this is a copy")
	} else if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(document), "```go\n")[1:]
	if len(blocks) < 10 {
		t.Errorf("%d blocks of Go code in the document, want at least 10", len(blocks))
	}
	for _, b := range blocks {
		if code, _, ok := strings.Cut(b, "```"); !ok || !strings.Contains(string(examples), code) {
			t.Errorf("not among the examples:\n%s", code)
		}
	}
}
