// SPDX-License-Identifier: Apache-2.0

// Package sarif_test checks the SARIF that allocs writes against the schema
// that OASIS published for it.
package sarif_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // has the text of the schema
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// schema takes the published schema, which is not part of this repository, out
// of a module that has it as a constant.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > len(text) {
			text = l.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, d *findings.Document, o *baseline.Outcome) any {
	t.Helper()
	var b bytes.Buffer
	if err := report.SARIF(&b, d, o); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func document() *findings.Document {
	none := 0
	site := func(key, pattern, file string, v verdict.Verdict) *findings.Site {
		return &findings.Site{Key: key, File: file, Line: 4, Kind: "box", Pattern: pattern, Reason: "`n` is copied", Fix: "use \"Int\"",
			Answers: []findings.Answer{{Verdict: v}}}
	}
	return &findings.Document{Module: "example.com/m", Toolchains: []findings.Toolchain{{Name: "go1.27.4", Line: "go1.27"}},
		Roots: []*findings.Root{{ID: "example.com/m.F", File: "a dir/f.go", Line: 3, Allowed: &none, Verdicts: []string{"always"}, Allocs: []int{2},
			Sites: []*findings.Site{site("1", "boxed-argument", "a dir/f%20.go", verdict.Always), site("2", "", "ü.go", verdict.Always), site("3", "", "g.go", verdict.Cold)}}}}
}

func TestAgainstTheSchema(t *testing.T) {
	s := schema(t)
	for name, d := range map[string]*findings.Document{"findings": document(), "none": {Module: "m"}} {
		o := &baseline.Outcome{Worse: []baseline.Change{{Root: "example.com/m.F", Site: "1"}}}
		if err := s.Validate(write(t, d, o)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSchemaRefuses shows that the check can fail.
func TestTheSchemaRefuses(t *testing.T) {
	s := schema(t)
	text, err := json.Marshal(write(t, document(), &baseline.Outcome{}))
	if err != nil {
		t.Fatal(err)
	}
	for old, broken := range map[string]string{`"level":"note"`: `"level":"bad"`, `"startLine":4`: `"startLine":0`, `"version":"2.1.0"`: `"version":"2.2"`, `"ruleId"`: `"rule"`} {
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("%s is not in %s", old, text)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(text, []byte(old), []byte(broken))))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("%s: got no error", broken)
		}
	}
}
