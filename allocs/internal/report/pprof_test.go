// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// measuredDocument has a site that runs count below two calls, one of them
// inlined, on one of two toolchains, and one that only the code shows.
func measuredDocument(dir string) *findings.Document {
	d := document()
	d.Dir = dir
	s := d.Roots[0].Sites
	s[0].Answers[0].Evidence.Runs = []findings.Run{{Name: "BenchmarkA", PerOp: 0.5, Bytes: 8}, {Name: "BenchmarkB", PerOp: 1.25, Bytes: 20}}
	s[0].Answers[0].Chain = []findings.Frame{
		{Func: "m.F", File: "f.go", Line: 3}, {Func: "m.inner", File: "f.go", Line: 9, Inlined: true}, {Func: "strconv.Itoa", File: "/go/src/strconv/itoa.go", Line: 7},
	}
	s[0].Answers[0].Evidence.Stacks = []findings.Stack{
		{Run: findings.Run{Name: "BenchmarkA", PerOp: 0.5, Bytes: 8}, Chain: s[0].Answers[0].Chain},
		{Run: findings.Run{Name: "BenchmarkB", PerOp: 0.25, Bytes: 4}, Chain: s[0].Answers[0].Chain[:2]},
		{Run: findings.Run{Name: "BenchmarkB", PerOp: 1, Bytes: 16}, Chain: s[0].Answers[0].Chain},
	}
	s[0].Answers[1].Verdict = verdict.None
	s[1].Answers[0].Evidence.Calls = 2
	return d
}

func writeProfile(t *testing.T, d *findings.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Pprof(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPprof(t *testing.T) {
	text := writeProfile(t, measuredDocument("/src/m"))
	if again := writeProfile(t, measuredDocument("/src/m")); !bytes.Equal(text, again) {
		t.Error("the same document gives another profile")
	}
	p, err := profile.ParseData(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(p.Sample); got != 6 {
		t.Fatalf("got %d samples, want 6: one for each chain of each answer but none", got)
	}
	for i, want := range []struct {
		value                     [3]int64
		verdict, toolchain, proof string
	}{
		{[3]int64{1000, 16000, 1}, "always", "go1.24.13", "BenchmarkB"},
		{[3]int64{250, 4000, 0}, "always", "go1.24.13", "BenchmarkB"},
		{[3]int64{2000, 0, 1}, "always", "go1.24.13", "code"},
		{[3]int64{0, 0, 1}, "grows", "go1.27.4", "code"},
		{[3]int64{0, 0, 1}, "grows", "go1.24.13", "code"},
		{[3]int64{0, 0, 1}, "grows", "go1.27.4", "code"},
	} {
		s := p.Sample[i]
		if got := [3]int64(s.Value); got != want.value {
			t.Errorf("sample %d: got values %v, want %v", i, got, want.value)
		}
		for label, text := range map[string]string{"verdict": want.verdict, "go": want.toolchain, "evidence": want.proof, "root": "example.com/m.F", "pattern": "boxed-argument"} {
			if got := strings.Join(s.Label[label], " "); got != text {
				t.Errorf("sample %d: label %s: got %q, want %q", i, label, got, text)
			}
		}
	}
	var stack []string
	for _, l := range p.Sample[0].Location {
		var lines []string
		for _, x := range l.Line {
			lines = append(lines, x.Function.Name+" "+x.Function.Filename)
		}
		stack = append(stack, strings.Join(lines, " in "))
	}
	want := "strconv.Itoa /go/src/strconv/itoa.go < m.inner /src/m/f.go in m.F /src/m/f.go"
	if got := strings.Join(stack, " < "); got != want {
		t.Errorf("got stack %q, want %q", got, want)
	}
	if got := p.Sample[2].Location[0].Line[0]; got.Line != 4 || got.Function.Name != "m.F" {
		t.Errorf("a site without a chain: got %s:%d, want m.F:4", got.Function.Name, got.Line)
	}
	if len(p.Location) != 4 {
		t.Errorf("got %d locations, want 4: the same place is one", len(p.Location))
	}
}

// TestPprofTool looks at the profile as a user would.
func TestPprofTool(t *testing.T) {
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("NIB_E2E is not set: the go command builds the tool")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "allocs.pprof")
	source := "package m\n\nfunc F(n int) {\n\tkept = n\n}\n\n// inner is inlined.\nfunc inner(n int) {\n\tuse(strconv.Itoa(n))\n}\n"
	for file, text := range map[string]string{name: string(writeProfile(t, measuredDocument(dir))), filepath.Join(dir, "f.go"): source} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tool := func(args ...string) string {
		cmd := exec.Command("go", append(append([]string{"tool", "pprof"}, args...), name)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil && strings.Contains(string(out), "no such tool") {
			t.Skipf("there is no go tool pprof here: %s", out)
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-raw"}, `(?s)Samples:\nallocs/count\[dflt\] bytes/bytes sites/count\n +1000 +16000 +1: 1 2 .*go:\[go1.24.13\].*Locations.*m\.inner .*f\.go:9:0.*\n +m\.F .*f\.go:3:0`},
		{[]string{"-top"}, `Showing nodes accounting for 3250, 100% of 3250 total`},
		{[]string{"-top"}, ` 250 +7.69% +100% +1250 38.46% +m\.inner \(inline\)`},
		{[]string{"-top", "-sample_index=sites", "-tagfocus=verdict=grows"}, `100% of 3 total|accounting for 3, `},
		{[]string{"-list=m.F"}, `2000 +3250 .*\n(?s).*1250 .*3:func F`},
		{[]string{"-list=m.inner"}, `1250 +9:\tuse\(strconv\.Itoa\(n\)\)`},
	} {
		if out := tool(c.args...); !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("go tool pprof %s: want a match of %s in\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
}
