// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// Text is the output of -m=2 for one package. It is the fallback for releases
// without -json=0,DIR or whose output is empty: the go command replays it from
// its cache, but its wording changes from release to release, and it has only
// the outermost position of inlined code.
type Text struct {
	Escapes []Escape
	Inlined Inlined
	Lines   int // number of lines with a position in a Go file, whatever their text
}

// Inlined holds the calls that were replaced by the body of the callee: the
// position of the call → the names of the callees. Calls in the body of one
// callee are at the position of the outermost call.
type Inlined map[Position][]string

// At reports whether the call at the position was replaced by the function or
// method with this name, which has no package or receiver.
func (in Inlined) At(p Position, name string) bool {
	for _, callee := range in[p] {
		if callee == name || strings.HasSuffix(callee, "."+name) {
			return true
		}
	}
	return false
}

// saying is one line of the compiler's output.
type saying struct {
	at   Position
	text string
}

// splitSaying splits a line into the position and the text. Lines with reasons
// are indented by two or four after the position.
func splitSaying(line string) (saying, bool) {
	i := strings.Index(line, ".go:")
	if i < 0 {
		return saying{}, false
	}
	rest := line[i+len(".go:"):]
	row, rest, ok := strings.Cut(rest, ":")
	if !ok {
		return saying{}, false
	}
	col, text, ok := strings.Cut(rest, ": ")
	if !ok {
		return saying{}, false
	}
	l, err1 := strconv.Atoi(row)
	c, err2 := strconv.Atoi(col)
	if err1 != nil || err2 != nil || l < 1 || c < 1 {
		return saying{}, false
	}
	return saying{Position{line[:i+len(".go")], l, c}, text}, true
}

// parseText reads the output of a build with -m=2: the answers by import path.
// resolve makes a file's name absolute.
func parseText(out []byte, resolve func(name string) string) map[string]*Text {
	all := map[string]*Text{}
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 64<<20)
	var r *textReader
	for sc.Scan() {
		line := sc.Text()
		if pkg, ok := strings.CutPrefix(line, "# "); ok {
			pkg, _, _ = strings.Cut(pkg, " ")
			if all[pkg] == nil {
				all[pkg] = &Text{Inlined: Inlined{}}
			}
			r = &textReader{out: all[pkg], resolve: resolve}
			continue
		}
		if s, ok := splitSaying(line); ok && r != nil {
			s.at.File = resolve(s.at.File)
			r.read(s)
		}
	}
	for _, t := range all {
		t.settle()
	}
	return all
}

// textReader reads the output about one package.
type textReader struct {
	out     *Text
	resolve func(name string) string
	current int // index of the escape that reasons belong to, plus 1
}

// read takes one line. The reasons of an escape follow a line that ends with a
// colon; the decision itself comes later, without one, at the same place.
func (r *textReader) read(s saying) {
	r.out.Lines++
	if strings.HasPrefix(s.text, "  ") {
		if r.current > 0 {
			e := &r.out.Escapes[r.current-1]
			e.Reasons = append(e.Reasons, r.step(strings.TrimSpace(s.text), e.Stack[0]))
		}
		return
	}
	r.current = 0
	if callee, ok := strings.CutPrefix(s.text, "inlining call to "); ok {
		// Up to Go 1.17 the body follows, after a space.
		callee, _, _ = strings.Cut(callee, " ")
		r.out.Inlined[s.at] = append(r.out.Inlined[s.at], callee)
		return
	}
	what, moved := strings.CutPrefix(s.text, "moved to heap: ")
	explained := false
	if !moved {
		i := strings.LastIndex(s.text, " escapes to heap")
		if i < 0 {
			return
		}
		// "x escapes to heap:", or "x escapes to heap in F:" since Go 1.25.
		what, explained = s.text[:i], strings.HasSuffix(s.text, ":")
	}
	r.out.Escapes = append(r.out.Escapes, Escape{Stack: []Position{s.at}, What: what, Moved: moved, Outer: true})
	if explained {
		r.current = len(r.out.Escapes)
	}
}

// step parses a step: "from x (how) at f.go:1:2" or "flow: a ← b:".
func (r *textReader) step(text string, at Position) Step {
	i := strings.LastIndex(text, " at ")
	if i < 0 {
		return Step{text, at}
	}
	if s, ok := splitSaying(text[i+len(" at "):] + ": "); ok {
		s.at.File = r.resolve(s.at.File)
		return Step{text[:i], s.at}
	}
	return Step{text, at}
}

// settle keeps one escape for each value: the one with reasons, if there is one
// at its position.
func (t *Text) settle() {
	explained := map[Position]bool{}
	for _, e := range t.Escapes {
		explained[e.Stack[0]] = explained[e.Stack[0]] || len(e.Reasons) > 0
	}
	type value struct {
		at   Position
		what string
	}
	at := map[value]int{}
	var out []Escape
	for _, e := range t.Escapes {
		v := value{e.Stack[0], e.What}
		if i, ok := at[v]; ok {
			out[i].Moved = out[i].Moved || e.Moved
			if len(out[i].Reasons) == 0 {
				out[i].Reasons = e.Reasons
			}
			continue
		}
		if len(e.Reasons) == 0 && explained[e.Stack[0]] {
			continue // the decision on a value that was explained under a longer name
		}
		at[v] = len(out)
		out = append(out, e)
	}
	t.Escapes = out
}

// CollectText compiles the packages with -m=2. As in Collect, it is an error if
// the compiler prints nothing about a package with functions.
func (c *Collector) CollectText(ctx context.Context, pkgs []*load.Package) (map[string]*Text, error) {
	// Only the named packages are printed; no program is written.
	args := []string{"build", "-gcflags=-m=2", "-o", os.DevNull}
	var paths []string
	for _, p := range pkgs {
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue
		}
		paths = append(paths, p.ImportPath)
	}
	if len(paths) == 0 {
		return nil, nil
	}
	if c.Overlay != "" {
		args = append(args, "-overlay", c.Overlay)
	}
	said, err := c.Toolchain.GoSaid(ctx, c.Dir, append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, err
	}
	all := parseText(said, func(name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		if c.Original != nil {
			name = c.Original(name)
		}
		return name
	})
	return all, silent(all, pkgs)
}

// silent returns an error if the compiler printed nothing about a package.
func silent(all map[string]*Text, pkgs []*load.Package) error {
	for _, p := range pkgs {
		if t := all[p.ImportPath]; (t == nil || t.Lines == 0) && hasFunctions(p) {
			return fmt.Errorf("%s: -m=2: %w", p.ImportPath, ErrSilent)
		}
	}
	return nil
}
