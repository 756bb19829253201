// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

// corpus returns the files of github.com/nst/JSONTestSuite by name. It looks
// for the suite in NIB_JSONTESTSUITE, and in shared/data beside a parent
// folder.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	dir := os.Getenv("NIB_JSONTESTSUITE")
	if dir == "" {
		dir = corpusAbove()
	}
	files := map[string][]byte{}
	for _, folder := range []string{"test_parsing", "test_transform"} {
		paths, _ := filepath.Glob(filepath.Join(dir, folder, "*.json"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			must.Succeed(t, err)
			files[filepath.Base(path)] = text
		}
	}
	if len(files) == 0 {
		t.Skip("JSONTestSuite is not here: set NIB_JSONTESTSUITE to a checkout of it")
	}
	return files
}

func corpusAbove() string {
	dir, err := os.Getwd()
	for err == nil {
		found := filepath.Join(dir, "shared", "data", "JSONTestSuite")
		if _, err := os.Stat(found); err == nil {
			return found
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return ""
}

// TestCorpusFilesSurviveAsText checks that the content of every file, logged as
// a value, is read back.
func TestCorpusFilesSurviveAsText(t *testing.T) {
	for name, text := range corpus(t) {
		l, c := newCapture(t)
		l.Info().Str("s", string(text)).Bytes("b", text).Any("a", string(text)).Str(string(text), "key").Msg(string(text))
		line := c.one()
		want := decoded(string(text))
		for _, key := range []string{"s", "b", "a", "message"} {
			if got := line.get(key); got == nil || got.text != want {
				t.Errorf("%s as %s\n got %s\nwant %q", name, key, got, want)
			}
		}
		if want != "" && line.get(want) == nil {
			t.Errorf("%s as a key is missing", name)
		}
	}
}

// TestCorpusFilesSurviveAsRawJSON checks that valid JSON keeps its value, that
// invalid JSON becomes a string, and that a file on which parsers may differ is
// one of the two.
func TestCorpusFilesSurviveAsRawJSON(t *testing.T) {
	counts := map[string]int{}
	for name, text := range corpus(t) {
		counts[name[:2]]++
		for how, add := range map[string]func(e *nib.Event){
			"RawJSON": func(e *nib.Event) { e.RawJSON("k", text) },
			"Any":     func(e *nib.Event) { e.Any("k", json.RawMessage(text)) },
		} {
			got := value(t, add)
			refused := got.kind == '"' && got.text == decoded(string(text))
			kept := sameJSON(got, text)
			switch {
			case strings.HasPrefix(name, "y_") && !kept, strings.HasPrefix(name, "n_") && !refused, !kept && !refused:
				t.Errorf("%s by %s\n got %.200s", name, how, got)
			}
		}
	}
	if counts["y_"] != 95 || counts["n_"] != 188 || counts["i_"] != 35 {
		t.Errorf("the suite has other files than expected: %v", counts)
	}
}

// sameJSON reports whether v is the value of text, by way of encoding/json for
// the text and of the strict parser for v.
func sameJSON(v *node, text []byte) bool {
	var value json.RawMessage
	if json.Unmarshal(text, &value) != nil {
		return false
	}
	want, err := (&strictParser{src: compacted(value), halves: true}).document()
	return err == nil && want.String() == v.String()
}

// compacted removes white space, and bytes that are not UTF-8.
func compacted(text []byte) string {
	var out strings.Builder
	inString, escaped := false, false
	for _, r := range string(text) {
		switch {
		case inString:
			if !escaped && r == '"' {
				inString = false
			}
			escaped = !escaped && r == '\\'
		case strings.ContainsRune(" \t\r\n", r):
			continue
		case r == '"':
			inString = true
		}
		out.WriteRune(r)
	}
	return out.String()
}
