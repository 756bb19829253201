// SPDX-License-Identifier: Apache-2.0

package pools_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go code in the document on pools must be that of the examples, which is
// compiled and run.
func TestDocumentedCodeIsThatOfTheExamples(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "pools.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the documents lie outside of this module, of which this is a copy")
	} else if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlocks(string(document))
	if len(blocks) < 5 {
		t.Errorf("%d blocks of Go code in the document, want at least 5", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), b) {
			t.Errorf("not among the examples:\n%s", b)
		}
	}
}

// goBlocks returns the fenced blocks of Go code.
func goBlocks(document string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(document, "```go\n")
		if !ok {
			return blocks
		}
		block, after, _ := strings.Cut(rest, "```")
		blocks = append(blocks, block)
		document = after
	}
}

func TestGoBlocks(t *testing.T) {
	got := goBlocks("text\n```go\na\n```\nmore\n```\nno Go\n```\n```go\nb\n```")
	if len(got) != 2 || got[0] != "a\n" || got[1] != "b\n" {
		t.Errorf("got %q, want a and b", got)
	}
}
