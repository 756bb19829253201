// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
	"github.com/nib-log/nib/allocs/internal/must"
)

var update = flag.Bool("update", false, "write the examples of the documents anew")

// Figures that depend on the machine, or on how busy it is.
var (
	counted   = regexp.MustCompile(`  \([0-9,]+ operations counted[^)]*\)`)
	perSecond = regexp.MustCompile(`(?m)^(Benchmark\S+)-\d+\s+\d+\s+[\d.]+ ns/op`)
	ofModule  = regexp.MustCompile(`(?m)^.*:50:6: (e escapes|  flow|    from|moved).*\n`)
	ofProfile = regexp.MustCompile(`(?m)^ +[\d.]+ +[\d.]+ +(49|5\d):.*\n`)
)

// TestDocuments compares the outputs in the documents with what the commands
// print. After a change on purpose: go test ./command -run Documents -update
func TestDocuments(t *testing.T) {
	if testing.Short() || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("left out of short mode, as it runs the go command, and on other releases")
	}
	useCache(t)
	const lesson = "../testdata/lesson"
	profile := filepath.Join(t.TempDir(), "mem.out")
	for _, c := range []struct {
		name, document, begin string
		output                func() string
	}{
		{"README", "../README.md", "testdata/cart", func() string {
			text := allocs(t, command.Worse, "-C", "../testdata/cart", "--plain")
			text, _, _ = strings.Cut(text, "\n1 run measured") // the rest has a duration
			return text
		}},
		{"count", "../../docs/zero-alloc.md", "lesson: benchmem", func() string {
			text := output(t, lesson, "go", "test", "-run", "^$", "-bench", ".", "-benchmem",
				"-benchtime", "1000x")
			text = text[strings.Index(text, "Benchmark"):strings.Index(text, "PASS")]
			return perSecond.ReplaceAllString(text, "$1")
		}},
		{"compiler", "../../docs/zero-alloc.md", "lesson: compiler", func() string {
			text := output(t, lesson, "go", "build", "-gcflags=-m=2", ".")
			text = strings.Join(ofModule.FindAllString(text, -1), "")
			return strings.ReplaceAll(text, "example.com/lesson/", "./")
		}},
		{"profile", "../../docs/zero-alloc.md", "lesson: profile", func() string {
			output(t, lesson, "go", "test", "-run", "^$", "-bench", "Event/Seldom",
				"-benchtime", "20000x", "-memprofile", profile, "-memprofilerate", "1",
				"-o", filepath.Join(t.TempDir(), "lesson.test"), ".")
			// Compiled with GOFLAGS, as other tests are, unlike what "go tool" runs.
			text := output(t, lesson, "go", "run", "cmd/pprof", "-sample_index=alloc_objects",
				"-list", "lesson.Interface", profile)
			return strings.Join(ofProfile.FindAllString(text, -1)[:5], "")
		}},
		{"allocs", "../../docs/zero-alloc.md", "lesson: allocs", func() string {
			text := allocs(t, command.Clean, "-C", lesson, "--plain")
			_, text, _ = strings.Cut(text, "\n\n")
			text, _, _ = strings.Cut(text, "\n6 runs measured")
			return text
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.ReplaceAll(c.output(), runtime.Version(), "go1.26.8")
			compare(t, c.document, c.begin, counted.ReplaceAllString(got, ""))
		})
	}
}

func allocs(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := command.Run(args, &stdout, &stderr); got != code {
		t.Fatalf("got exit code %d, want %d\n%s%s", got, code, &stdout, &stderr)
	}
	return stdout.String()
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, text)
	}
	return string(text)
}

// compare compares the example that begins with a comment, or writes it anew.
func compare(t *testing.T, document, begin, got string) {
	t.Helper()
	text, err := os.ReadFile(document)
	must.Succeed(t, err)
	from, to := "<!-- "+begin+" -->\n```\n", "```\n<!-- end -->\n"
	head, rest, ok := strings.Cut(string(text), from)
	want, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the example", document)
	}
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("got\n%s\n%s shows\n%s", got, document, want)
	}
	must.Succeed(t, os.WriteFile(document, []byte(head+from+got+to+tail), 0o644))
}
