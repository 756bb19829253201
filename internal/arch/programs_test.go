// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"debug/elf"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// run returns the output of a command.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out)
}

// build returns the path of a program, made of a folder or file.
func build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program.exe")
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", program}, flags)
	run(t, "go", append(args, source)...)
	return program
}

// write returns the path of a new file with a text.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// checkBinary compares the sizes of a program with nib and one with log/slog.
func checkBinary(own, slog uint64) (v faults) {
	if own > slog+200_000 {
		v.add("hello with nib is %d bytes larger, want at most 200,000", own-slog)
	}
	return v
}

// sizeOf returns the bytes of a program's sections: with those that fill up
// pages, one more byte may count as 8,192.
func sizeOf(t *testing.T, program string) (n uint64) {
	f, err := elf.Open(program)
	if err != nil {
		t.Skipf("only sections of ELF are counted: %v", err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS {
			n += s.Size
		}
	}
	return n
}

func TestBinarySize(t *testing.T) {
	mustFind(t, checkBinary(2_260_001, 2_060_000), "200001 bytes larger")
	if testing.Short() {
		t.Skip("builds two programs")
	}
	own := sizeOf(t, build(t, "./testdata/hello", "-ldflags=-s -w"))
	slog := sizeOf(t, build(t, "./testdata/helloslog", "-ldflags=-s -w"))
	t.Logf("nib %d bytes, log/slog %d", own, slog)
	mustFind(t, checkBinary(own, slog))
}

// TestImportStartsNoGoroutine counts the goroutines of a program that imports
// all public packages of the root module, and again when it has started one.
func TestImportStartsNoGoroutine(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode does not build programs")
	}
	text := "package main\nimport \"fmt\"\nimport \"runtime\"\n"
	for _, s := range repository().library() {
		if repository().module(s.folder) == "." && s.syntax.Name.Name != "main" {
			text += fmt.Sprintf("import _ %q\n", path.Join(root, s.folder))
		}
	}
	text += "func main() { n := runtime.NumGoroutine(); go func() { select {} }(); " +
		"fmt.Print(n, runtime.NumGoroutine()) }\n"
	if got := run(t, build(t, write(t, text))); got != "1 2" {
		t.Errorf("got %q goroutines, want 1 and then 2", got)
	}
}

// mostLocked limits the locked instructions of calls, by the function where the
// call begins. One takes 20 cycles on some processors and 7 on others, where no
// timing shows that there is one too many. All branches of the functions count,
// taken or not, except for calls of rareCalls.
var mostLocked = map[string]int{
	"main.poolGet": 1, "main.poolPut": 1, "main.disabled": 0, "main.message": 0,
	"main.buffersGet": 2, // one takes a buffer from its slot, or one from a shard
	"main.buffersPut": 1, // if the slot is not reserved for the buffer
	"main.record":     3, // one reserves room; two wake sleeping goroutines
	"main.counted":    4, // one counts; three are for lines that are dropped, and panics
	// Two lock and unlock; two are for lines that the writer itself has logged.
	root + "/internal/linewriter.(*Writer).Write": 4,
}

// rareCalls are functions that usual calls do not execute, by the beginning of
// their names, and those that have a row of their own.
//
//go:embed testdata/locked/rare.txt
var rareCalls string

// machineCode matches the beginning of a function, a locked instruction of
// amd64 (by its prefix, or an exchange of a register with memory), and a call
// or jump in the output of go tool objdump.
var machineCode = regexp.MustCompile(`(?m)^TEXT (.+?)\(SB\)` +
	`|\t(LOCK .*?|XCHG.*\(.*?)\s*$|\t(?:CALL|JMP) (.+)\(SB\)`)

// A function has its locked instructions, and the functions that it calls or
// continues with.
type function struct{ locked, calls []string }

func disassembled(text string) map[string]*function {
	code, f := map[string]*function{}, &function{}
	for _, m := range machineCode.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] != "":
			f = &function{}
			code[m[1]] = f
		case m[2] != "":
			f.locked = append(f.locked, m[2])
		default:
			f.calls = append(f.calls, m[3])
		}
	}
	return code
}

// folders and type arguments in the name of a function are not shown:
// "pool.(*Pool).Get".
var folders = regexp.MustCompile(`^[^\[]*/|\[.*\]`)

func short(name string) string { return folders.ReplaceAllString(name, "") }

// checkLocked follows the calls of each function, except for the rare ones, in
// the output of go tool objdump.
func checkLocked(text string, most map[string]int, rare []string) (v faults) {
	code, called := disassembled(text), map[string]bool{}
	for from, most := range most {
		var found []string
		todo := []string{from}
		for i := 0; i < len(todo); i++ {
			f := code[todo[i]]
			if f == nil {
				continue // outside
			}
			for _, instruction := range f.locked {
				found = append(found, short(todo[i])+": "+instruction)
			}
			for _, next := range f.calls {
				begins := func(r string) bool { return strings.HasPrefix(short(next), r) }
				if r := slices.IndexFunc(rare, begins); r >= 0 {
					called[rare[r]] = true
				} else if !slices.Contains(todo, next) {
					todo = append(todo, next)
				}
			}
		}
		if code[from] == nil || len(found) > most {
			v.add("%s: %d locked instructions, want at most %d: %q", from, len(found), most, found)
		}
	}
	for _, r := range rare {
		if !called[r] {
			v.add("%s is not called any more", r)
		}
	}
	return v
}

func TestLockedInstructions(t *testing.T) {
	bad, want := badTree(t)
	most := map[string]int{"main.get": 1, "main.put": 0}
	mustFind(t, checkLocked(bad.text["code"], most, []string{"runtime.", "sync."}), want...)
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("short mode does not build programs, and only amd64 has the lock prefix")
	}
	program := build(t, "./testdata/locked", "-ldflags=-w") // objdump needs the symbols
	// Compiled with GOFLAGS, as other tests are, unlike what "go tool" runs.
	code := run(t, "go", "run", "cmd/objdump", "-s", `^main\.|^sync|^internal/sync|`+root, program)
	mustFind(t, checkLocked(code, mostLocked, strings.Fields(rareCalls)))
}

// given has, below a line with the name of a page, declarations of the names
// that its snippets use without one. The user's code has the names that a
// reader expects.
//
//go:embed testdata/given.txt
var given string

// foreign are the packages of the standard library and of other repositories
// that snippets use.
var foreign = strings.Fields(`bytes context errors encoding/json expvar fmt io log log/slog net
	net/http os os/signal runtime sync sync/atomic syscall testing time
	github.com/colega/zeropool github.com/rs/zerolog github.com/sirupsen/logrus
	go.uber.org/zap go.uber.org/zap/zapcore google.golang.org/grpc
	github.com/hashicorp/go-hclog go.opentelemetry.io/otel google.golang.org/grpc/grpclog`)

// A page is a text with snippets, each a block of Go.
type page struct {
	name, module string // the module has what the snippets import
	blocks       []string
}

// pages are the comments of public packages, and documents.
func pages(t *tree) (list []page) {
	for _, s := range t.library() {
		text := s.syntax.Doc.Text()
		p := page{name: s.folder, module: t.module(s.folder)}
		if strings.Contains(text, "kafka.") {
			p.module = "cmd/nib" // which requires both modules
		}
		for _, b := range new(comment.Parser).Parse(text).Content {
			if c, ok := b.(*comment.Code); ok {
				p.blocks = append(p.blocks, strings.TrimSpace(c.Text))
			}
		}
		if p.blocks != nil {
			list = append(list, p)
		}
	}
	program := regexp.MustCompile(`(?s)^package main.*?\n\)\n`)
	block := regexp.MustCompile("(?s)```go\n(.*?)```")
	for name, module := range map[string]string{"README.md": "bridge/niblogrus",
		"SKILL.md": "bridge/niblogrus", "docs/files.md": "bench", "docs/pools.md": "bench"} {
		p := page{name: name, module: module}
		for _, m := range block.FindAllStringSubmatch(t.text[name], -1) {
			code := strings.ReplaceAll(m[1], "{ … }", "{}")
			p.blocks = append(p.blocks, program.ReplaceAllString(code, ""))
		}
		list = append(list, p)
	}
	return list
}

// snippets returns the Go code of a page, as declarations. The other blocks are
// tables, shell commands and lines of other formats.
func (p *page) snippets() (list []string) {
	for _, block := range p.blocks {
		pieces := []string{block}
		if declarations(block) == "" {
			pieces = strings.Split(block, "\n\n")
		}
		for _, piece := range pieces {
			list = append(list, declarations(piece))
		}
	}
	return list
}

// declarations returns code that is Go as declarations of a file. Statements
// have a call or an assignment, as a list of names parses as expressions.
func declarations(code string) string {
	statements := "var _ = func() error {\n" + code + "\nreturn nil\n}()\n"
	code = strings.Replace(code, "func main()", "func _()", 1)
	for _, text := range []string{code, statements} {
		_, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
		if err == nil && (text != statements || strings.ContainsAny(code, "(=")) {
			return text + "\n"
		}
	}
	return ""
}

var qualifier = regexp.MustCompile(`(?:^|[^.\w])(\w+)\.`)
var harmless = regexp.MustCompile(`^# |^go: downloading |(declared|imported( as \w+)?) and not used`)

// program returns a file with the snippets of a page, and what they need.
func (p *page) program(imports map[string]string) string {
	declared := sections(given)[p.name]
	head, body := "package p\n", declared+strings.Join(p.snippets(), "")
	for _, m := range qualifier.FindAllStringSubmatch(body, -1) {
		own := regexp.MustCompile(`(?m)^\s*(var )?` + m[1] + ` `).MatchString(declared)
		line := fmt.Sprintf("import %s %q\n", m[1], imports[m[1]])
		if imports[m[1]] != "" && !own && !strings.Contains(head, line) {
			head += line
		}
	}
	return head + body
}

// importable are the packages that snippets import, by name.
func importable(t *tree) map[string]string {
	imports := map[string]string{"hclog": "github.com/hashicorp/go-hclog",
		"lumberjack": "gopkg.in/natefinch/lumberjack.v2"}
	for _, p := range foreign {
		imports[path.Base(p)] = p
	}
	for _, s := range t.library() {
		imports[s.syntax.Name.Name] = path.Join(root, s.folder)
	}
	return imports
}

// checkSnippets compiles each page as a package of its module. Variables that
// are not used are no fault: a snippet is the beginning of a program.
func checkSnippets(t *testing.T, list []page, imports map[string]string) (v faults) {
	files, packages := map[string]string{}, map[string][]string{} // by module
	for _, p := range list {
		folder, _ := filepath.Abs(filepath.Join(top, p.module, "snippets", p.name))
		files[filepath.Join(folder, "a.go")] = write(t, p.program(imports))
		packages[p.module] = append(packages[p.module], folder)
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": files})
	args := []string{"build", "-buildvcs=false", "-gcflags=-e", "-overlay="}
	args[3] += write(t, string(overlay))
	for module, folders := range packages {
		cmd := exec.Command("go", append(args, folders...)...)
		cmd.Dir = filepath.Join(top, module)
		out, _ := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !harmless.MatchString(line) {
				v.add("%s: %s", module, line)
			}
		}
	}
	return v
}

func TestSnippetsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode does not compile what snippets import")
	}
	imports := importable(repository())
	bad := page{".", ".", []string{"log.Info().Nothing()", "db := log.Named(host)"}}
	mustFind(t, checkSnippets(t, []page{bad}, imports), "log.Info().Nothing undefined")
	mustFind(t, checkSnippets(t, pages(repository()), imports))
}
