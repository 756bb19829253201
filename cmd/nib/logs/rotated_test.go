// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
)

// What compresses a file deletes it after the compressed one has its name. If
// it dies in between, both have the lines.
func TestAFileThatIsThereTwiceIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	const line = `{"level":"info","message":"m"}` + "\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(line)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"app.log": line, "app.log.1": line,
		"app.log.1.gz": packed.String(), "app.log.2.gz": packed.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{filepath.Join(dir, "app.log*")},
		{filepath.Join(dir, "app.log.2.gz"), filepath.Join(dir, "app.log.1.gz"),
			filepath.Join(dir, "app.log.1"), filepath.Join(dir, "app.log")},
	} {
		sources, err := logs.Find(args, nil, false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		all := logs.Selection{Query: query(t, ""), Zone: time.UTC}
		_, err = logs.Cat(t.Context(), &out, sources, all, rawLines(t))
		if err != nil || out.String() != line+line+line {
			t.Errorf("%q: got %s, %v, want three lines", args, out.String(), err)
		}
	}
}

// A compressed file is read beside the file without its extension if it has
// other lines.
func TestACompressedFileWithOtherLinesIsReadFirst(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put(t, in("app"), "new\n")
	put(t, in("app.gz"), gzipped(t, "old\n"))
	put(t, in("app.1"), "1\n")
	put(t, in("app.1.gz"), gzipped(t, "1\n"))
	put(t, in("app.2"), "2\n")
	put(t, in("app.2.gz"), gzipped(t, "2\n")[:5]) // it is being compressed
	args := []string{in("app"), in("app.gz"), in("app.1.gz"), in("app.1"), in("app.2*")}
	sources, err := logs.Find(args, nil, false, time.Now())
	ok(t, err)
	var out bytes.Buffer
	_, err = logs.Cat(t.Context(), &out, sources, logs.Selection{}, rawLines(t))
	if want := "2\n1\nold\nnew\n"; err != nil || out.String() != want {
		t.Errorf("got %q, %v, want %q", out.String(), err, want)
	}
}
