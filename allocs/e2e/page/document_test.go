// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// service makes a module of n handlers, each with a log call that is a root,
// and the findings of three Go releases on it. Every tenth handler allocates,
// every fifth does on the last of them, every hundredth is above its limit; all
// share the sites of one package. Benchmarks allocate on lines of the handlers.
func service(t *testing.T, n int) (*findings.Document, *baseline.Outcome) {
	t.Helper()
	dir := t.TempDir()
	d := &findings.Document{Format: 1, Module: "shop.example/orders", Dir: dir}
	for _, name := range []string{"go1.24.13", "go1.26.8", "go1.27.4"} {
		d.Toolchains = append(d.Toolchains, findings.Toolchain{
			Name: name, Line: name[:6], Runs: 12, Leaves: leaves(),
		})
	}
	const perFile = 20
	for i := range n {
		if i%perFile == 0 {
			handlers(t, dir, i/perFile, perFile)
		}
		d.Roots = append(d.Roots, root(i, fmt.Sprintf("internal/api/handlers%03d.go", i/perFile), i%perFile*8+5))
	}
	shared := "package codec\n\n" + strings.Repeat("// Text keeps to the line that the findings name.\nfunc append(b []byte) []byte {\n\treturn b // <script>alert(1)</script>\n}\n\n", 40)
	write(t, filepath.Join(dir, "internal/codec/codec.go"), shared)
	o := &baseline.Outcome{Baseline: true}
	for i := range min(n, 30) {
		kind := []string{"worse", "new", "better", "gone"}[i%4]
		c := baseline.Change{Kind: kind, Toolchain: "go1.27", Root: d.Roots[i*10%n].ID, Site: "own", Text: "x: it was </script><img src=x onerror=alert(1)>", Where: "f.go:1"}
		if kind == "worse" || kind == "new" {
			o.Worse = append(o.Worse, c)
		} else {
			o.Better = append(o.Better, c)
		}
	}
	d.Sum()
	return d, o
}

// leaves returns 20 benchmarks, the lightest first; the fifth of them have no
// allocations, and those that have any have 1 to 3 lines and a rest.
func leaves() (all []findings.Leaf) {
	for i := range 20 {
		l := findings.Leaf{
			Package: "shop.example/orders/internal/api", Name: fmt.Sprintf("BenchmarkHandle/%d_items", i),
			N: 20000,
		}
		for k := range i / 4 % 4 {
			l.Lines = append(l.Lines, findings.Line{
				File: "internal/api/handlers000.go", Line: 8*k + 8, Source: "a.log.Info(…)",
				PerOp: float64(i - k), Bytes: 16, Reasons: []findings.Reason{{
					PerOp: float64(i - k), Pattern: "slog-pairs",
					Reason: "`r.Method` and <i>others</i> are copied to the heap", Fix: "use LogAttrs",
				}},
			})
			l.PerOp, l.Bytes = l.PerOp+float64(i-k), l.Bytes+16
		}
		if l.PerOp > 0 {
			l.PerOp, l.Bytes = l.PerOp+0.5, l.Bytes+8
		}
		all = append(all, l)
	}
	return all
}

func handlers(t *testing.T, dir string, file, n int) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("package api\n\nimport \"net/http\"\n\n")
	for i := range n {
		fmt.Fprintf(&b, "func (a *API) handle%d(w http.ResponseWriter, r *http.Request) {\n\tbegan := time.Now()\n\ta.mux.ServeHTTP(w, r)\n", file*n+i)
		fmt.Fprintf(&b, "\ta.log.Info(\"<b>request</b>\", \"method\", r.Method, \"path\", r.URL.Path, \"handler\", %d, \"took\", time.Since(began))\n\ta.done()\n\treturn\n}\n\n", file*n+i)
	}
	write(t, filepath.Join(dir, fmt.Sprintf("internal/api/handlers%03d.go", file)), b.String())
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

func root(i int, file string, line int) *findings.Root {
	name := fmt.Sprintf("shop.example/orders/internal/api.(*API).handle%d", i)
	r := &findings.Root{ID: name, Kind: "annotated", Func: name, Package: "shop.example/orders/internal/api", File: file, Line: line, End: line + 6}
	chain := []findings.Frame{{Func: name, File: file, Line: line + 3}}
	counted := verdict.Finding{Verdict: verdict.Counted}
	size := verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Size}
	first := verdict.Finding{Verdict: verdict.Possible, Missing: verdict.First}
	own := size
	if i%10 == 0 {
		own = counted
	}
	r.Sites = append(r.Sites, site("own", file, line+3, "slog-pairs", "`r.Method` and <i>others</i> are copied to the heap to be stored in an interface", chain, own, own, own))
	last := first
	if i%5 == 0 {
		last = counted
	}
	for k := range 40 { // the site that all handlers share
		at := 5 + 5*k
		way := append(append([]findings.Frame(nil), chain...), findings.Frame{Func: "shop.example/orders/internal/codec.Append", File: "internal/codec/codec.go", Line: at, Inlined: k%2 == 0},
			findings.Frame{Func: "strconv.Itoa", File: "/usr/local/go/src/strconv/itoa.go", Line: 30 + k%3})
		r.Sites = append(r.Sites, site(fmt.Sprint("shared", k), "internal/codec/codec.go", at, "strconv-string", "the number becomes a new string", way, size, first, last))
		last = first
	}
	for t := range 3 {
		count := 0
		for _, s := range r.Sites {
			if s.Answers[t].Allocates() {
				count++
			}
		}
		r.Allocs = append(r.Allocs, count)
	}
	if i%100 == 0 {
		r.Allowed = new(int)
	}
	return r
}

func site(key, file string, line int, pattern, reason string, chain []findings.Frame, all ...verdict.Finding) *findings.Site {
	s := &findings.Site{Key: key, Chain: chain, Func: chain[len(chain)-1].Func, File: file, Line: line, Kind: "box", Pattern: pattern, Reason: reason,
		Fix: "use LogAttrs with slog.Int, slog.String and so on"}
	for _, f := range all {
		a := findings.Answer{Finding: f, Because: "as measured", Evidence: &findings.Evidence{Code: "on every path", Calls: 1, Compiler: "r.Method"}}
		if f.Allocates() {
			a.Evidence.Runs = []findings.Run{{Name: "BenchmarkHandle", PerOp: 1, Bytes: 16}}
		}
		s.Answers = append(s.Answers, a)
	}
	s.Finding = s.Worst()
	return s
}

// pageFile writes the page and returns its path and size.
func pageFile(t *testing.T, n int) (string, int) {
	t.Helper()
	d, o := service(t, n)
	var b bytes.Buffer
	if err := report.HTML(&b, d, o); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "allocs.html")
	write(t, name, b.String())
	return name, b.Len()
}
