// SPDX-License-Identifier: Apache-2.0

package view

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
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
	d, err := openDocument(path, logread.Keys{}, nil)
	must.Succeed(t, err)
	defer d.Close()
	for i := range maxParts {
		if err := os.Remove(path); err != nil {
			t.Skipf("the system does not delete an open file: %v", err)
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

// Files that came and were renamed since the last look are in the document, and
// a loss is reported.
func TestADocumentHasFilesBetweenTwoLooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	appendTo(t, path+".1", "older\n")
	appendTo(t, path, "0\n")
	var reports []string
	d, err := openDocument(path, logread.Keys{}, func(format string, args ...any) {
		reports = append(reports, fmt.Sprintf(format, args...))
	})
	must.Succeed(t, err)
	defer d.Close()
	looks := func(want string) {
		t.Helper()
		must.Succeed(t, d.rotate())
		text := make([]byte, d.extended(t))
		if _, err := d.ReadAt(text, 0); string(text) != want || err != nil {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(path+from, path+to); err != nil {
			t.Skipf("the system does not rename an open file: %v", err)
		}
	}
	rename(".1", ".4")
	rename("", ".3")
	appendTo(t, path+".2", "1\n2\n")
	appendTo(t, path+".1", "3")
	appendTo(t, path, "4\n")
	looks("0\n\n1\n2\n\n3\n4\n")
	looks("0\n\n1\n2\n\n3\n4\n")
	if len(reports) > 0 {
		t.Errorf("got the reports %q", reports)
	}
	rename("", ".0")
	rename(".3", ".0") // in place of the last file of the document
	appendTo(t, path, "5\n")
	looks("0\n\n1\n2\n\n3\n4\n\n5\n")
	if len(reports) != 1 || !strings.Contains(reports[0], "was removed or renamed") {
		t.Errorf("got the reports %q", reports)
	}
}

// The first line of an empty file may be written in parts, too.
func TestTheFirstLineOfAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	appendTo(t, path, "")
	d, err := openDocument(path, logread.Keys{}, nil)
	must.Succeed(t, err)
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
