// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Visited has what each operation executes, by file. What only the set-up of a
// benchmark executes is not in it, nor what it executes while its timer is
// stopped.
type Visited map[string]*Executed

// Executed has what each operation executes of a file.
type Executed struct {
	Lines map[int]bool // the lines on which each block is executed
	// Begins has the lines on which blocks begin, and whether the first block on
	// the line is executed.
	Begins map[int]bool
}

// Line reports whether each operation executes all of a line.
func (v Visited) Line(file string, line int) bool {
	f := v[file]
	return f != nil && f.Lines[line]
}

// Function reports whether each operation executes the function on the lines
// from first to last: the first block on them is the beginning of its body, and
// others can be in function literals.
func (v Visited) Function(file string, first, last int) bool {
	f := v[file]
	for line := first; f != nil && line <= last; line++ {
		if executed, begins := f.Begins[line]; begins {
			return executed
		}
	}
	return false
}

// iterations of the two runs whose counts are compared.
var iterations = [2]int{2, 4}

// Visit runs the measured benchmarks again, with coverage, to determine which
// lines are executed. Without it, a line that no run shows to allocate could be
// a line that no run reaches. Coverage changes the code, so nothing is counted
// here.
func (b *Binary) Visit(
	ctx context.Context, o Options, measured []Result, packages, dirs []string,
) (Visited, error) {
	var leftOut []string
	for _, r := range measured {
		if r.Failed != "" {
			leftOut = append(leftOut, r.Name)
		}
	}
	skipped, err := json.Marshal(leftOut)
	if err != nil {
		return nil, err
	}
	v := Visited{}
	exe := b.Path + ".cover"
	_, err = b.tc.Go(ctx, b.dir, "test", "-c", "-vet=off", toolchain.NoDebug,
		"-overlay", b.overlay, "-cover", "-covermode=count", "-coverpkg="+strings.Join(packages, ","),
		"-o", exe, b.Package.ImportPath)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(b.Names),
		func(name string) bool { return slices.Contains(leftOut, name) })
	if len(names) == 0 {
		return v, nil
	}
	out := exe + ".out"
	var counts [2]map[block]int
	for i, n := range iterations {
		profile := fmt.Sprintf("%s.%d", exe, n)
		os.Remove(profile)
		os.Remove(out)
		env := append(b.tc.Env(), environment.Out+"="+out, environment.LeftOut+"="+string(skipped),
			fmt.Sprintf("%s=%d", environment.Visit, n))
		err := b.execute(ctx, exe, env, watching{out, o.give(), nil},
			append(arguments("("+strings.Join(names, "|")+")"), "-test.coverprofile="+profile)...)
		if counts[i], err = readProfile(profile, err); err != nil {
			const format = "%s: the run that notes which lines are executed: %w"
			return nil, fmt.Errorf(format, b.Package.ImportPath, err)
		}
	}
	v.compare(counts, packages, dirs)
	return v, nil
}

// block is a piece of code without a branch.
type block struct {
	file     string // import path and name
	from, to int    // lines
	columns  [2]int
}

// readProfile reads how often each block was executed. A process that failed
// after it has written its profile has visited the lines in it.
func readProfile(profile string, failed error) (map[block]int, error) {
	f, err := os.Open(profile)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	defer f.Close()
	out := map[block]int{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		name, rest, ok := strings.Cut(sc.Text(), ".go:")
		if !ok {
			continue // the line that names the mode
		}
		b := block{file: name + ".go"}
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from, &b.columns[0], &b.to,
			&b.columns[1], &statements, &count); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", sc.Text(), err)
		}
		out[b] += count
	}
	return out, sc.Err()
}

// compare adds what the longer run executed more often. A line counts only if
// every block on it was, because its allocation can be in any of them.
func (v Visited) compare(counts [2]map[block]int, packages, dirs []string) {
	where := map[string]string{}
	for i, p := range packages {
		where[p] = dirs[i]
	}
	type beginning struct {
		file string
		line int
	}
	columns := map[beginning]int{}
	idle := map[string]bool{} // files in which nothing is executed
	for b, n := range counts[1] {
		dir, ok := where[path.Dir(b.file)]
		if !ok {
			continue
		}
		name, executed := filepath.Join(dir, path.Base(b.file)), n > counts[0][b]
		f := v[name]
		if f == nil {
			f = &Executed{map[int]bool{}, map[int]bool{}}
			v[name], idle[name] = f, true
		}
		idle[name] = idle[name] && !executed
		for line := b.from; line <= b.to; line++ {
			was, known := f.Lines[line]
			f.Lines[line] = executed && (was || !known)
		}
		at := beginning{name, b.from}
		if column, ok := columns[at]; !ok || b.columns[0] < column {
			columns[at], f.Begins[b.from] = b.columns[0], executed
		}
	}
	maps.DeleteFunc(v, func(file string, _ *Executed) bool { return idle[file] })
}
