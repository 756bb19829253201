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

// given declares the names that the snippets of a package comment use and do
// not declare. The user's code has the names that a reader expects.
var given = map[string]string{
	".": `var (
		ctx = context.Background()
		log = nib.New(os.Stdout)
		host, id = "10.0.0.7", "4bf92f35"
		user User
	)
	type User struct { Name string; Age int }`,
	"alloctest":       "type request struct{}\nfunc newRequest() *request { return nil }\nfunc handle(*request) {}\nfunc parse(string) {}\nvar text string",
	"dest/kafka":      "var log *nib.Logger",
	"metrics":         "var dest delivery.Destination",
	"nibslog":         "var r *http.Request",
	"nibtest":         "type cart struct{}\nvar order cart\nfunc checkout(*nib.Logger, cart) {}",
	"sink":            "var file nib.Sink",
	"sink/stdout":     "var stalls atomic.Int64",
	"target/tlsfiles": "var p struct{ tlsfiles.Files }",
}

// imports are the packages that snippets use, by the name before the dot.
// importPublic adds those of the repository.
var imports = map[string]string{
	"atomic": "sync/atomic", "context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "io": "io", "os": "os", "runtime": "runtime",
	"slog": "log/slog", "testing": "testing", "time": "time", "expvar": "expvar", "json": "encoding/json", "log": "log",
	"logrus": "github.com/sirupsen/logrus", "zap": "go.uber.org/zap", "zapcore": "go.uber.org/zap/zapcore", "hclog": "github.com/hashicorp/go-hclog",
	"net": "net", "otel": "go.opentelemetry.io/otel", "grpc": "google.golang.org/grpc", "grpclog": "google.golang.org/grpc/grpclog",
	"nib": root,
}

// importPublic adds the public packages of a tree to imports.
func importPublic(t *tree) {
	for _, s := range t.files {
		if s.isGo() && !s.isTest() && s.folder != "." && isPublic(s.folder) && s.syntax.Name.Name != "main" {
			imports[s.syntax.Name.Name] = root + "/" + s.folder
		}
	}
}

// A snippet is an indented block of Go in a package comment.
type snippet struct {
	code         string
	declarations bool // of a file; otherwise statements
	want         string
}

// snippetsOf returns the Go code of a comment. Text after it in braces, or in a
// comment at its end, is the code's output. The other blocks are tables, shell
// commands and lines of other formats.
func snippetsOf(comment string) (list []snippet) {
	for _, block := range blocksOf(comment) {
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

// parseSnippet reports whether code is Go, as declarations or as statements.
func parseSnippet(code string) (s snippet, ok bool) {
	_, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, 0)
	s = snippet{code: code, declarations: err == nil}
	if err != nil {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+code+"\n}\n", 0)
		if err != nil || !doesSomething(f) {
			return s, false
		}
	}
	if i := strings.LastIndex(code, "\n// {\""); i >= 0 {
		s.want = strings.TrimPrefix(code[i+1:], "// ")
	}
	return s, true
}

// doesSomething reports whether the statements of a function have a call or an
// assignment: a list of names parses as expressions.
func doesSomething(f *ast.File) (does bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CallExpr, *ast.AssignStmt:
			does = true
		}
		return !does
	})
	return does
}

// blocksOf returns the indented blocks of a comment, without their indentation.
func blocksOf(comment string) (blocks []string) {
	var block strings.Builder
	end := func() {
		if text := strings.TrimSpace(block.String()); text != "" {
			blocks = append(blocks, text)
		}
		block.Reset()
	}
	for line := range strings.Lines(comment) {
		code, ok := strings.CutPrefix(line, "\t")
		switch {
		case ok:
			block.WriteString(code)
		case strings.TrimSpace(line) == "":
			block.WriteString("\n")
		default:
			end()
		}
	}
	end()
	return blocks
}

// programOf returns a file with all snippets, each in a separate scope.
func programOf(folder string, list []snippet) string {
	var body strings.Builder
	body.WriteString(given[folder] + "\n")
	for i, s := range list {
		if s.declarations {
			body.WriteString(strings.Replace(s.code, "func main()", fmt.Sprintf("func main%d()", i), 1) + "\n")
			continue
		}
		fmt.Fprintf(&body, "func snippet%d() error {\n%s\nreturn nil\n}\n", i, s.code)
	}
	var head strings.Builder
	head.WriteString("package main\nimport (\n")
	for name, p := range imports {
		if declares(given[folder], name) {
			continue
		}
		if regexp.MustCompile(`(^|[^.\w])` + name + `\.`).MatchString(body.String()) {
			fmt.Fprintf(&head, "%q\n", p)
		}
	}
	return head.String() + ")\n" + body.String()
}

// declares reports whether the declarations in code have a name.
func declares(code, name string) bool {
	return regexp.MustCompile(`(?m)^\s*(var )?` + name + ` `).MatchString(code)
}

// checkSnippets compiles the code in the comment of a package. Variables that
// are not used are no fault: a snippet is the beginning of a program.
func checkSnippets(t *testing.T, dir, folder, comment string) (violations []string) {
	t.Helper()
	list := snippetsOf(comment)
	text := programOf(folder, list)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, folder, text, 0)
	if err != nil {
		return []string{err.Error()}
	}
	exports := exportsOf(t, dir, file)
	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) }),
		Error: func(err error) {
			e := err.(types.Error)
			if !e.Soft {
				line := strings.Split(text, "\n")[fset.Position(e.Pos).Line-1]
				violations = append(violations, fmt.Sprintf("package comment of %s: %s: %s", folder, strings.TrimSpace(line), e.Msg))
			}
		},
	}
	_, _ = config.Check(folder, fset, []*ast.File{file}, nil)
	return violations
}

// exportsOf returns the files with the export data of a file's imports.
func exportsOf(t *testing.T, dir string, file *ast.File) map[string]string {
	t.Helper()
	exports := map[string]string{}
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, i := range file.Imports {
		args = append(args, strings.Trim(i.Path.Value, `"`))
	}
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		p, export, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[p] = export
	}
	return exports
}

func TestSnippetsOfPackageCommentsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("the go command compiles what they import")
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	loaded, _ := repository(t)
	importPublic(loaded)
	compare(t, "bad", checkSnippets(t, top, ".", "Package nib\n\n\tlog.Info().Nothing()\n"), []string{"log.Info().Nothing()"})
	compare(t, "unused", checkSnippets(t, top, ".", "Package nib\n\n\tdb := log.Named(host)\n"), nil)

	for _, s := range loaded.files {
		if s.isGo() && !s.isTest() && isPublic(s.folder) && s.syntax.Doc != nil {
			dir := filepath.Join(top, s.module)
			if comment := s.syntax.Doc.Text(); strings.Contains(comment, "kafka.") {
				dir = filepath.Join(top, "cmd/nib") // which requires it and the root module
			}
			report(t, checkSnippets(t, dir, s.folder, s.syntax.Doc.Text()))
		}
	}
}

// TestSnippetsOfTheTutorialPrint runs the code in the comment of package nib
// and compares its output with that in the comment, except times.
func TestSnippetsOfTheTutorialPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	loaded, _ := repository(t)
	i := slices.IndexFunc(loaded.files, func(s *source) bool { return s.path == "doc.go" })
	var list []snippet
	calls, want := "", ""
	for _, s := range snippetsOf(loaded.files[i].syntax.Doc.Text()) {
		if s.want != "" {
			calls += fmt.Sprintf("_ = snippet%d()\n", len(list))
			want += s.want + "\n"
			list = append(list, s)
		}
	}
	if len(list) < 2 {
		t.Fatalf("%d snippets print something, want two at least", len(list))
	}
	program := programOf(".", list) + "func (User) MarshalNib(*nib.Event) {}\nfunc main() {\n" + calls + "}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("go", "run", file)
	run.Dir = "../.."
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	times := regexp.MustCompile(`"time":"[^"]*"`)
	if got := times.ReplaceAllString(string(out), `"time":"…"`); got != times.ReplaceAllString(want, `"time":"…"`) {
		t.Errorf("the snippets print\n%s, want\n%s", got, want)
	}
}
