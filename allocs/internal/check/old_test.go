// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// hideAnswers puts a go command first in the path that leaves out the compiler
// flags that contain one of the words, so that there is no answer to them.
func hideAnswers(t *testing.T, words ...string) {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\nfor a do\n\tshift\n\tcase $a in\n")
	for _, w := range words {
		b.WriteString("\t-gcflags=*" + w + "*) ;;\n")
	}
	b.WriteString("\t*) set -- \"$@\" \"$a\" ;;\n\tesac\ndone\nexec '" + goCommand + "' \"$@\"\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(b.String()), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestTextIsReadWhereJSONIsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		hidden []string
		text   bool
		err    error
	}{
		{"nothing is hidden", nil, false, nil},
		{"no JSON", []string{"-json"}, true, nil},
		{"neither", []string{"-json", "-m=2"}, false, ErrCanary},
	} {
		t.Run(c.name, func(t *testing.T) {
			hideAnswers(t, c.hidden...)
			// A new directory each time: the go command would
			// replay its output.
			text, err := sight(ctx, tc, t.TempDir())
			if text != c.text || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v, want %v, %v", text, err, c.text, c.err)
			}
		})
	}
}

// TestOldCanary takes the evidence of a release without readable executables
// away, piece by piece.
func TestOldCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	work := t.TempDir()
	ctx := context.Background()
	// The stages treat the text in the same way for each release.
	tc, err := toolchain.Find(ctx, work, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := oldCanary(ctx, tc, work, true); err != nil {
		t.Fatal(err)
	}
	evidence, err := oldEvidence(ctx, tc, filepath.Join(work, "canary"), work, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, kill := range map[string]func(in *verdict.Input){
		"the compiler is silent": func(in *verdict.Input) {
			in.Outline = func(roots.Root) verdict.Outline { return verdict.Outline{} }
			in.Runs = in.Runs[:0:0]
		},
		"the runs count nothing": func(in *verdict.Input) {
			in.Runs = []runs.Result{{Name: "BenchmarkAllocates"}, {Name: "BenchmarkFree"}}
		},
		"there are no runs": func(in *verdict.Input) { in.Runs = nil },
		"no line is in the module": func(in *verdict.Input) {
			in.InModule = func(string) bool { return false }
		},
	} {
		in := *evidence
		kill(&in)
		if err := judgeOldCanary(&in, true); !errors.Is(err, ErrCanary) {
			t.Errorf("%s: got %v, want %v", name, err, ErrCanary)
		}
	}
}

// oldModule has one package that Go 1.17 compiles and one that it does not.
var oldModule = map[string]string{
	"go.mod":         "module example.com/m\n\ngo 1.13\n",
	"m.go":           "package m\n\nvar kept interface{}\n\n//alloc:none\nfunc Seen(n int) { kept = &[9]int{n} }\n\n//alloc:none\nfunc Free(n int) int { return n + 1 }\n\n//alloc:none\nfunc Untold(s string) {\n\tif s == \"\" {\n\t\tgrown = append(grown, s...)\n\t}\n}\n\nvar grown []byte\n",
	"m_test.go":      "package m\n\nimport \"testing\"\n\nfunc BenchmarkFree(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tFree(i)\n\t}\n}\n\nfunc BenchmarkUntold(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tUntold(\"x\")\n\t}\n}\n",
	"newer/newer.go": "package newer\n\n//alloc:none\nfunc New() {\n\tclear(map[int]int{})\n}\n",
}

func TestOldRelease(t *testing.T) {
	releases := []string{"1.17"}
	switch os.Getenv("NIB_E2E") {
	case "":
		t.Skip("NIB_E2E is not set: it fetches Go 1.17")
	case "full":
		releases = []string{"1.13", "1.16", "1.17", "1.18", "1.19"}
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) { oldRelease(t, release) })
	}
}

func oldRelease(t *testing.T, release string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range oldModule {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	if _, err := toolchain.Find(ctx, dir, release, ""); err != nil {
		t.Skipf("Go %s cannot be had: %v", release, err)
	}
	o := Options{Dir: dir, Patterns: []string{"."}, Releases: []string{release, ""}, Bench: regexp.MustCompile("."), Timeout: time.Minute}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Toolchains) != 2 || len(r.Toolchains[0].Trouble) == 0 || r.Toolchains[0].Trouble[0] != OldSight || len(r.Toolchains[1].Trouble) > 0 {
		t.Fatalf("got %+v, want two toolchains, the first with the word that it sees less", r.Toolchains)
	}
	want := map[string][2]verdict.Verdict{
		"Seen":   {verdict.Always, verdict.Always}, // on every way through
		"Free":   {verdict.None, verdict.None},
		"Untold": {verdict.Unknown, verdict.Grows}, // no run executed it, and append is not in the text
	}
	for i, root := range r.Roots.Roots {
		for n, tc := range r.Toolchains {
			got := verdict.None
			for _, s := range tc.Results[i].Sites {
				if s.Verdict.Rank() > got.Rank() {
					got = s.Verdict
				}
			}
			if w := want[strings.TrimPrefix(root.Func, "example.com/m.")][n]; got != w {
				t.Errorf("%s on %s: got %s, want %s", root.Func, tc.Toolchain, got, w)
			}
		}
	}
	notBuilt(t, ctx, o)
}

// notBuilt looks at packages that the release does not compile: one of two is
// trouble, all of them are an error.
func notBuilt(t *testing.T, ctx context.Context, o Options) {
	t.Helper()
	mod := filepath.Join(o.Dir, "go.mod")
	if err := os.WriteFile(mod, []byte("module example.com/m\n\ngo 1.21\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Releases, o.Patterns = o.Releases[:1], []string{"./..."}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Toolchains[0].Trouble, "\n"); !strings.Contains(all, "example.com/m/newer does not build with go"+o.Releases[0]) {
		t.Errorf("got trouble %q, want the package that does not build", all)
	}
	for i, root := range r.Roots.Roots {
		if sites := r.Toolchains[0].Results[i].Sites; strings.HasSuffix(root.Func, ".New") && (len(sites) != 1 || sites[0].Verdict != verdict.Unknown) {
			t.Errorf("got %+v, want that nothing is known", sites)
		}
	}
	o.Patterns = []string{"./newer"}
	if r, err := Run(ctx, o); err == nil {
		t.Errorf("got %+v, want an error: the release says nothing of any package", r.Toolchains[0])
	}
}
