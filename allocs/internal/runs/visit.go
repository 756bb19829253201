// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Visited are the lines that are executed in each operation: file → line. A
// line that only the set-up of a benchmark executes is not among them.
type Visited map[string]map[int]bool

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
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from, &b.columns[0], &b.to, &b.columns[1], &statements, &count); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", sc.Text(), err)
		}
		out[b] += count
	}
	return out, sc.Err()
}

// compare adds the lines that the longer run executed more often. A line counts
// only if every block on it was, because its allocation can be in any of them.
func (v Visited) compare(counts [2]map[block]int, packages, dirs []string) {
	where := map[string]string{}
	for i, p := range packages {
		where[p] = dirs[i]
	}
	missed, hit := Visited{}, Visited{}
	for b, n := range counts[1] {
		dir, ok := where[path.Dir(b.file)]
		if !ok {
			continue
		}
		into := missed
		if n > counts[0][b] {
			into = hit
		}
		into.add(filepath.Join(dir, path.Base(b.file)), b.from, b.to)
	}
	for file, lines := range hit {
		for line := range lines {
			if !missed[file][line] {
				v.add(file, line, line)
			}
		}
	}
}

func (v Visited) add(file string, from, to int) {
	if v[file] == nil {
		v[file] = map[int]bool{}
	}
	for n := from; n <= to; n++ {
		v[file][n] = true
	}
}
