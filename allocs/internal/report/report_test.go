// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

func document() *findings.Document {
	none := 0
	site := func(line int, kind string, all ...verdict.Finding) *findings.Site {
		s := &findings.Site{Key: kind, Func: "m.F", File: "f.go", Line: line, Source: `kept = n // <&>`, Kind: kind, Pattern: "boxed-argument", Reason: "`n` is copied", Fix: "do not"}
		for _, f := range all {
			s.Answers = append(s.Answers, findings.Answer{Finding: f, Because: "so it is", Evidence: &findings.Evidence{}})
		}
		return s
	}
	d := &findings.Document{
		Format: 1, Module: "example.com/m", Dir: "/nowhere",
		Toolchains: []findings.Toolchain{{Name: "go1.24.13", Line: "go1.24"}, {Name: "go1.27.4", Line: "go1.27", Trouble: []string{"no run"}}},
		Roots: []*findings.Root{
			{ID: "example.com/m.F", Kind: "annotated", Func: "example.com/m.F", Package: "example.com/m", File: "f.go", Line: 3, Allowed: &none,
				Allocs: []int{2, 0}, Sites: []*findings.Site{
					site(4, "box", counted, possible(verdict.Size)), site(4, "box-small", counted, possible(verdict.Size)), site(6, "append", possible(verdict.Size), possible(verdict.Size))}},
			{ID: "example.com/m.G", Kind: "annotated", File: "f.go", Line: 9, Allowed: &none, Allocs: []int{0, 0}, Sites: []*findings.Site{}},
		},
	}
	d.Sum()
	return d
}

func TestFormats(t *testing.T) {
	d := document()
	o := &baseline.Outcome{Baseline: true, Worse: []baseline.Change{{Kind: "worse", Root: "example.com/m.F", Site: "box", Text: "</script><worse>"}}}
	var j, h bytes.Buffer
	for name, err := range map[string]error{"JSON": report.JSON(&j, d), "HTML": report.HTML(&h, d, o)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	back := new(findings.Document)
	if err := json.Unmarshal(j.Bytes(), back); err != nil || len(back.Roots) != 2 || back.Roots[0].Sites[0].Reason != "`n` is copied" {
		t.Errorf("JSON: got %+v, %v", back, err)
	}
	if text := h.String(); !strings.Contains(text, `&lt;worse&gt;`) || strings.Contains(text, "<worse>") || strings.Count(text, "</script>") != 1 {
		t.Error("HTML: what comes from the source is not escaped")
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	if err := report.Text(full{}, document(), &baseline.Outcome{}, false); err == nil {
		t.Error("got no error from a writer that is full")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }
