// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// given declares the names that the snippets of a package comment, or of the
// README, use without a declaration. The user's code has the names that a
// reader expects.
var given = map[string]string{
	".": `var (
		ctx = context.Background()
		log = nib.New(os.Stdout)
		host, id = "10.0.0.7", "4bf92f35"
		user User
	)
	type User struct { Name string; Age int }`,
	"README.md": `var (
		name string
		n int
		d time.Duration
		addr string
		mux http.Handler
		log = logrus.New()
		l = nib.New(os.Stdout)
	)`,
	"SKILL.md": `var (
		ctx = context.Background()
		log = nib.New(os.Stdout)
		host, id = "10.0.0.7", "4bf92f35"
		user struct { Name string }
		n int
		d time.Duration
		err error
		mux http.Handler
	)`,
	"docs/pools.md": "type session struct{}",
	"alloctest": `type request struct{}
		func newRequest() *request { return nil }
		func handle(*request) {}
		func parse(string) {}
		var text string`,
	"dest/kafka":      "var log *nib.Logger",
	"metrics":         "var dest delivery.Destination",
	"nibslog":         "var r *http.Request",
	"nibtest":         "type cart struct{}\nvar order cart\nfunc checkout(*nib.Logger, cart) {}",
	"sink":            "var file nib.Sink",
	"sink/stdout":     "var stalls atomic.Int64",
	"target/tlsfiles": "var p struct{ tlsfiles.Files }",
}

// foreign are the packages of the standard library and of other repositories
// that snippets use.
var foreign = strings.Fields(`bytes context errors encoding/json expvar fmt io log log/slog net net/http os runtime
	sync sync/atomic testing time github.com/colega/zeropool github.com/sirupsen/logrus go.uber.org/zap go.uber.org/zap/zapcore
	github.com/hashicorp/go-hclog go.opentelemetry.io/otel google.golang.org/grpc google.golang.org/grpc/grpclog`)

// A page is a text with snippets, each a block of Go.
type page struct {
	name, dir string // dir is of the module with what it imports
	blocks    []string
}

// pages are the comments of public packages, and documents.
func pages(t *testing.T, tree *tree) (list []page) {
	for _, s := range tree.library() {
		if s.syntax.Doc != nil {
			p := page{s.folder, moduleOf(t, s.folder), indented(s.syntax.Doc.Text())}
			if strings.Contains(s.syntax.Doc.Text(), "kafka.") {
				p.dir = filepath.Join(checkout(t), "cmd/nib") // which requires both modules
			}
			list = append(list, p)
		}
	}
	program := regexp.MustCompile(`(?s)^package main.*?\n\)\n`)
	block := regexp.MustCompile("(?s)```go\n(.*?)```")
	for name, dir := range map[string]string{"README.md": "bridge/niblogrus",
		"SKILL.md": "bridge/niblogrus", "docs/pools.md": "bench"} {
		p := page{name: name, dir: filepath.Join(checkout(t), dir)}
		for _, m := range block.FindAllStringSubmatch(tree.other[name], -1) {
			code := strings.ReplaceAll(m[1], "{ … }", "{}")
			p.blocks = append(p.blocks, program.ReplaceAllString(code, ""))
		}
		list = append(list, p)
	}
	return list
}

// indented returns the indented blocks of a comment, without their indentation.
func indented(comment string) (blocks []string) {
	for _, block := range regexp.MustCompile(`(?m)(?:^(?:\t.*)?\n)+`).FindAllString(comment, -1) {
		if block = strings.TrimSpace(strings.ReplaceAll("\n"+block, "\n\t", "\n")); block != "" {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// A snippet is a piece of Go, and what it prints.
type snippet struct {
	code         string
	declarations bool // of a file; otherwise statements
	want         string
}

// snippets returns the Go code of a page. Text after it in braces, or in a
// comment at its end, is the code's output. The other blocks are tables, shell
// commands and lines of other formats.
func (p page) snippets() (list []snippet) {
	for _, block := range p.blocks {
		if strings.HasPrefix(block, `{"`) && len(list) > 0 {
			list[len(list)-1].want = block
			continue
		}
		pieces := []string{block}
		if _, ok := parseSnippet(block); !ok {
			pieces = strings.Split(block, "\n\n")
		}
		for _, piece := range pieces {
			if s, ok := parseSnippet(piece); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// parseSnippet reports whether code is Go: declarations, or statements with a
// call or an assignment, as a list of names parses as expressions.
func parseSnippet(code string) (s snippet, ok bool) {
	_, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, 0)
	s = snippet{code: code, declarations: err == nil}
	ok = err == nil
	if !ok {
		inFunction := "package p\nfunc _() {\n" + code + "\n}\n"
		f, err := parser.ParseFile(token.NewFileSet(), "", inFunction, 0)
		if err != nil {
			return s, false
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.CallExpr, *ast.AssignStmt:
				ok = true
			}
			return !ok
		})
	}
	if i := strings.LastIndex(code, "\n// {\""); i >= 0 {
		s.want = strings.TrimPrefix(code[i+1:], "// ")
	}
	return s, ok
}

var qualifier = regexp.MustCompile(`(?:^|[^.\w])(\w+)\.`)

// program returns a file with snippets, each in a separate scope, and the
// packages that it imports.
func program(name string, list []snippet, imports map[string]string) (text string, paths []string) {
	body := given[name] + "\n"
	for i, s := range list {
		if s.declarations {
			main := fmt.Sprintf("func main%d()", i)
			body += strings.Replace(s.code, "func main()", main, 1) + "\n"
		} else {
			body += fmt.Sprintf("func snippet%d() error {\n%s\nreturn nil\n}\n", i, s.code)
		}
	}
	for _, m := range qualifier.FindAllStringSubmatch(body, -1) {
		declared := regexp.MustCompile(`(?m)^\s*(var )?` + m[1] + ` `).MatchString(given[name])
		if p := imports[m[1]]; p != "" && !declared && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	head := "package main\n"
	for _, p := range paths {
		head += fmt.Sprintf("import %q\n", p)
	}
	return head + body, paths
}

// importable are the packages that snippets import, by name.
func importable(t *tree) map[string]string {
	imports := map[string]string{"nib": root, "hclog": "github.com/hashicorp/go-hclog"}
	for _, p := range foreign {
		imports[p[strings.LastIndex(p, "/")+1:]] = p
	}
	for _, s := range t.library() {
		if s.folder != "." && s.syntax.Name.Name != "main" {
			imports[s.syntax.Name.Name] = root + "/" + s.folder
		}
	}
	return imports
}

// checkSnippets compiles the snippets of pages. Variables that are not used are
// no fault: a snippet is the beginning of a program.
func checkSnippets(t *testing.T, list []page, imports map[string]string) (v faults) {
	t.Helper()
	needed := map[string][]string{} // packages by directory
	for _, p := range list {
		_, paths := program(p.name, p.snippets(), imports)
		needed[p.dir] = append(needed[p.dir], paths...)
	}
	fset := token.NewFileSet()
	importers := map[string]types.Importer{}
	for dir, paths := range needed {
		exports := exportsOf(t, dir, paths)
		importers[dir] = importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) {
			return os.Open(exports[p])
		})
	}
	for _, p := range list {
		text, _ := program(p.name, p.snippets(), imports)
		file, err := parser.ParseFile(fset, p.name, text, 0)
		if err != nil {
			v = append(v, err.Error())
			continue
		}
		config := types.Config{Importer: importers[p.dir], Error: func(err error) {
			if e := err.(types.Error); !e.Soft {
				line := strings.Split(text, "\n")[fset.Position(e.Pos).Line-1]
				v.add("%s: %s: %s", p.name, strings.TrimSpace(line), e.Msg)
			}
		}}
		_, _ = config.Check(p.name, fset, []*ast.File{file}, nil)
	}
	return v
}

// exportsOf returns the files with the export data of packages and of what they
// import.
func exportsOf(t *testing.T, dir string, paths []string) map[string]string {
	t.Helper()
	const form = "{{.ImportPath}}={{.Export}}"
	args := []string{"list", "-buildvcs=false", "-export", "-deps", "-f", form}
	list := exec.Command("go", append(args, paths...)...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, export, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[p] = export
	}
	return exports
}

func TestSnippetsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("the go command compiles what they import")
	}
	imports := importable(loaded(t))
	bad := page{".", checkout(t), []string{"log.Info().Nothing()", "db := log.Named(host)"}}
	mustFind(t, checkSnippets(t, []page{bad}, imports), "log.Info().Nothing()")
	report(t, checkSnippets(t, pages(t, loaded(t)), imports))
}

// TestSnippetsOfTheTutorialPrint runs the code in the comment of package nib
// and compares its output with that in the comment, except times.
func TestSnippetsOfTheTutorialPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	all := pages(t, loaded(t))
	tutorial := all[slices.IndexFunc(all, func(p page) bool { return p.name == "." })]
	list := slices.DeleteFunc(tutorial.snippets(), func(s snippet) bool { return s.want == "" })
	if len(list) < 2 {
		t.Fatalf("%d snippets print something, want two at least", len(list))
	}
	text, _ := program(".", list, importable(loaded(t)))
	text += "func (User) MarshalNib(*nib.Event) {}\nfunc main() {\n"
	want := ""
	for i, s := range list {
		text += fmt.Sprintf("_ = snippet%d()\n", i)
		want += s.want + "\n"
	}
	file := filepath.Join(t.TempDir(), "main.go")
	write(t, file, text+"}\n")
	times := regexp.MustCompile(`"time":"[^"]*"`)
	got := times.ReplaceAllString(run(t, build(t, file))+"\n", `"time":"…"`)
	if want := times.ReplaceAllString(want, `"time":"…"`); got != want {
		t.Errorf("the snippets print\n%s, want\n%s", got, want)
	}
}
