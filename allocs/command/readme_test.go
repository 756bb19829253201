// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
)

var update = flag.Bool("update", false, "write the README's example anew")

// counted is how many operations there were, which depends on how busy the
// machine is.
var counted = regexp.MustCompile(`  \([0-9,]+ operations counted[^)]*\)`)

// TestREADME compares the output in the README with the command's for
// testdata/cart. After a change on purpose: go test ./command -run README
// -update
func TestREADME(t *testing.T) {
	if testing.Short() || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("left out of short mode, as it runs the go command, and on other releases than the README's")
	}
	useCache(t)
	var stdout, stderr bytes.Buffer
	if code := command.Run([]string{"-C", "../testdata/cart", "--plain"}, &stdout, &stderr); code != command.Worse {
		t.Fatalf("got exit code %d, want %d\n%s%s", code, command.Worse, &stdout, &stderr)
	}
	got, _, _ := strings.Cut(stdout.String(), "\n1 run measured") // the rest has a duration
	got = strings.ReplaceAll(got, runtime.Version(), "go1.26.8")
	got = counted.ReplaceAllString(got, "")
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- testdata/cart -->\n```\n", "```\n<!-- end -->\n"
	head, rest, ok := strings.Cut(string(readme), from)
	want, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatal("the README has no place for the example")
	}
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("got\n%s\nthe README shows\n%s", got, want)
	}
	if err := os.WriteFile("../README.md", []byte(head+from+got+to+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
