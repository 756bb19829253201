// SPDX-License-Identifier: Apache-2.0

package teach_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/docgen/internal/teach"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

var root = filepath.Join("..", "..", "..")

// The document's examples are those of the checks' tests.
func TestDocumentIsUpToDate(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "..", "docs", "zero-alloc.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections, err := teach.Sections(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		got, err := teach.Replace(string(text), s)
		if err != nil || got != string(text) {
			t.Errorf("%s: %v; run go run ./cmd/teach in allocs/docgen", s.Name, err)
		}
		if !strings.Contains(s.Text, "```") && !strings.Contains(s.Text, "|") {
			t.Errorf("%s: got no example\n%s", s.Name, s.Text)
		}
	}
}

func TestReplace(t *testing.T) {
	const text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n"
	got, err := teach.Replace(text, teach.Section{Name: "x", Text: "new\n"})
	if want := "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, s := range []string{"", "<!-- x: begin -->\n"} {
		if _, err := teach.Replace(s, teach.Section{Name: "x"}); err == nil {
			t.Errorf("%q: got no error, want one", s)
		}
	}
}

func TestMatrix(t *testing.T) {
	none, always := findings.Answer{Verdict: verdict.None}, findings.Answer{Verdict: verdict.Always}
	site := &findings.Site{Key: "k", Func: "x/m.(*T).C", Source: "return n", Reason: "it is boxed", Answers: []findings.Answer{none, always}}
	got := teach.Matrix(&findings.Document{
		Toolchains: []findings.Toolchain{{Name: "go1.24.13"}, {Name: "go1.27.4"}},
		Roots: []*findings.Root{
			{Func: "x/m.(*T).C", Verdicts: []string{"none", "always"}, Sites: []*findings.Site{site}},
			{Func: "x/m.(*T).b", Verdicts: []string{"none", "none"}},
			{Func: "x/m.(*T).A", Verdicts: []string{"none", "none"}},
		},
	}).Text
	want := `| methods | go1.24.13 | go1.27.4 |
| --- | --- | --- |
| exported: 2 | 2 none | 1 none, 1 always |
| inside: 1 | 1 none | 1 none |

| worst verdict on these releases | methods |
| --- | --- |
| none | A b |
| none, then always | C |

| line that is behind ` + "`always` or `unknown`" + ` | below | why |
| --- | --- | --- |
| ` + "`return n`" + ` (m.(*T).C) | 1 methods | it is boxed |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
