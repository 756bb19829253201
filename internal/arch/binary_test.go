// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxBinary is how many bytes larger the hello program with nib may be than the
// one with log/slog.
const maxBinary = 250_000

const helloNib = `package main

import (
	"os"

	"github.com/nib-log/nib"
)

func main() { nib.New(os.Stdout).Info().Str("to", "world").Msg("hello") }
`

const helloSlog = `package main

import (
	"log/slog"
	"os"
)

func main() { slog.New(slog.NewJSONHandler(os.Stdout, nil)).Info("hello", "to", "world") }
`

// build builds a program from files, in a module that uses this checkout, and
// returns its path.
func build(t *testing.T, files map[string]string, flags ...string) string {
	t.Helper()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	mod := fmt.Sprintf("module hello\n\ngo 1.24\n\nrequire %s v0.0.0\n\nreplace %s => %q\n", root, root, checkout)
	write(t, filepath.Join(folder, "go.mod"), mod)
	for name, text := range files {
		write(t, filepath.Join(folder, name), text)
	}
	program := filepath.Join(folder, "hello")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	// No flag changes how packages are compiled, so that the standard library
	// comes from the build cache of the tests.
	cmd := exec.Command("go", slices.Concat([]string{"build", "-ldflags=-s -w"}, flags, []string{"-o", program, "."})...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return strings.TrimSpace(string(out))
}

func checkBinary(own, slog int64) []string {
	if own > slog+maxBinary {
		return []string{fmt.Sprintf("hello with nib has %d bytes, %d more than with log/slog; want at most %d more", own, own-slog, maxBinary)}
	}
	return nil
}

func TestBinarySize(t *testing.T) {
	for _, c := range []struct {
		own, slog int64
		want      []string
	}{
		{2_310_000, 2_060_000, nil},
		{1_000_000, 2_060_000, nil},
		{2_310_001, 2_060_000, []string{"250001 more"}},
	} {
		compare(t, fmt.Sprint(c.own), checkBinary(c.own, c.slog), c.want)
	}
	if testing.Short() {
		t.Skip("builds two programs")
	}
	var bytes []int64
	for _, text := range []string{helloNib, helloSlog} {
		program := build(t, map[string]string{"main.go": text})
		if out := run(t, program); !strings.Contains(out, `"to":"world"`) {
			t.Errorf("got output %q, want a line with the field", out)
		}
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		bytes = append(bytes, info.Size())
	}
	t.Logf("nib %d bytes, log/slog %d", bytes[0], bytes[1])
	report(t, checkBinary(bytes[0], bytes[1]))
}

// goroutines returns how many goroutines a program has in main after it has
// imported some packages. Besides main there should be none.
func goroutines(t *testing.T, imports []string, files map[string]string) int {
	t.Helper()
	var text strings.Builder
	text.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"runtime\"\n\n")
	for _, p := range imports {
		fmt.Fprintf(&text, "\t_ %q\n", p)
	}
	text.WriteString(")\n\nfunc main() { fmt.Println(runtime.NumGoroutine()) }\n")
	all := map[string]string{"main.go": text.String()}
	for name, text := range files {
		all[name] = text
	}
	n, err := strconv.Atoi(run(t, build(t, all)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// publicPackages are those of the root module that others can import.
func publicPackages(t *tree) (paths []string) {
	for _, s := range t.files {
		p := root + "/" + s.folder
		if s.folder == "." {
			p = root
		}
		if s.module == "." && s.isGo() && !s.isTest() && s.syntax.Name.Name != "main" &&
			!slices.Contains(strings.Split(s.folder, "/"), "internal") && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func TestImportStartsNoGoroutine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	bad := map[string]string{"started/a.go": "package started\n\nfunc init() { go func() { select {} }() }\n"}
	if got := goroutines(t, []string{"hello/started"}, bad); got != 2 {
		t.Errorf("package that starts one: got %d goroutines, want 2", got)
	}
	loaded, _ := repository(t)
	paths := publicPackages(loaded)
	if !slices.Contains(paths, root) {
		t.Fatalf("got packages %q, want the root among them", paths)
	}
	if got := goroutines(t, paths, nil); got != 1 {
		t.Errorf("%d public packages: got %d goroutines, want 1", len(paths), got)
	}
}
