// SPDX-License-Identifier: Apache-2.0

package view

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/internal/logread"
)

// appendTo appends a text to a file.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// extended calls extend and returns the end.
func (d *document) extended(t *testing.T) int64 {
	t.Helper()
	if _, err := d.extend(); err != nil {
		t.Fatal(err)
	}
	end, _ := d.state()
	return end
}

// Deleted files do not stay open for as long as the page is.
func TestADocumentKeepsFewFilesOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	appendTo(t, path, "0\n")
	d, err := openDocument(path, logread.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i := range maxParts {
		if err := os.Remove(path); err != nil {
			t.Skip(err) // some systems do not delete files that are open
		}
		appendTo(t, path, "1\n")
		last := i == maxParts-1
		if err := d.rotate(); errors.Is(err, errRotated) != last || err != nil && !last {
			t.Fatalf("rotation %d: got %v", i, err)
		}
		d.extended(t)
	}
	if len(d.parts) != maxParts {
		t.Errorf("got %d parts, want %d", len(d.parts), maxParts)
	}
}

// The first line of an empty file may be written in parts, too.
func TestTheFirstLineOfAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	appendTo(t, path, "")
	d, err := openDocument(path, logread.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 * maxIdle {
		d.extended(t)
	}
	appendTo(t, path, "begin")
	for i := range maxIdle {
		if end := d.extended(t); end != 0 {
			t.Fatalf("after %d calls: got end %d, want 0", i, end)
		}
	}
	appendTo(t, path, " end\n")
	if end := d.extended(t); end != 10 {
		t.Errorf("got end %d, want 10", end)
	}
}
