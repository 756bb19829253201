// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// maxBinary is how many bytes larger the hello program with nib may be than the
// one with log/slog.
const maxBinary = 200_000

// checkout is the folder of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// build builds a program from one file, in a module that uses this checkout,
// and returns its path. The module is not in a repository, whose owner may be
// another user, for whom git refuses to describe it.
func build(t *testing.T, file string, flags ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	const mod = "module hello\n\ngo 1.24\n\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n"
	write(t, filepath.Join(folder, "go.mod"), fmt.Sprintf(mod, root, checkout(t)))
	write(t, filepath.Join(folder, "main.go"), string(text))
	program := filepath.Join(folder, "hello")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	args := slices.Concat([]string{"build", "-ldflags=-s -w"}, flags, []string{"-o", program, "."})
	cmd := exec.Command("go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, name, text string) {
	t.Helper()
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

func checkBinary(own, slog int64) (v faults) {
	if own > slog+maxBinary {
		v.add("hello with nib has %d bytes, %d more than with log/slog; want at most %d",
			own, own-slog, maxBinary)
	}
	return v
}

// sizeOf returns the size of a program without the bytes that fill up its
// pages: with these, a change by one byte may count as 8,192.
func sizeOf(t *testing.T, program string) (size int64) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil { // of another system
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS {
			size += int64(s.Size)
		}
	}
	return size
}

func TestBinarySize(t *testing.T) {
	mustFind(t, checkBinary(2_260_001, 2_060_000), "200001 more")
	if testing.Short() {
		t.Skip("builds two programs")
	}
	var bytes []int64
	for _, name := range []string{"hello", "helloslog"} {
		program := build(t, "testdata/"+name+"/main.go")
		if out := run(t, program); !strings.Contains(out, `"to":"world"`) {
			t.Errorf("got output %q, want a line with the field", out)
		}
		bytes = append(bytes, sizeOf(t, program))
	}
	t.Logf("nib %d bytes, log/slog %d", bytes[0], bytes[1])
	report(t, checkBinary(bytes[0], bytes[1]))
}

// goroutines returns how many goroutines a program has in main after it has
// imported some packages, with more declarations. Besides main there should be
// none.
func goroutines(t *testing.T, imports []string, more string) string {
	t.Helper()
	text := "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime\"\n\n"
	for _, p := range imports {
		text += fmt.Sprintf("\t_ %q\n", p)
	}
	text += ")\n\nfunc main() { fmt.Println(runtime.NumGoroutine()) }\n" + more
	file := filepath.Join(t.TempDir(), "main.go")
	write(t, file, text)
	return run(t, build(t, file))
}

func TestImportStartsNoGoroutine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	if got := goroutines(t, nil, "func init() { go func() { select {} }() }\n"); got != "2" {
		t.Errorf("program that starts one: got %s goroutines, want 2", got)
	}
	var paths []string
	for _, s := range loaded(t).library() {
		if moduleOf(t, s.folder) == checkout(t) && s.syntax.Name.Name != "main" {
			paths = append(paths, strings.TrimSuffix(root+"/"+s.folder, "/."))
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if !slices.Contains(paths, root) {
		t.Fatalf("got packages %q, want the root among them", paths)
	}
	if got := goroutines(t, paths, ""); got != "1" {
		t.Errorf("%d public packages: got %s goroutines, want 1", len(paths), got)
	}
}

// moduleOf returns the directory of the module around a folder.
func moduleOf(t *testing.T, folder string) string {
	dir := filepath.Join(checkout(t), folder)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
