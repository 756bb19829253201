// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Visited are the lines that were executed: file → line.
type Visited map[string]map[int]bool

// Visit runs what was measured once more, with coverage, to learn which lines are
// come by. Without it, a line that no run shows to allocate could be one that
// no run reaches. Coverage changes the code, so nothing is counted here.
func (b *Binary) Visit(ctx context.Context, tc *toolchain.Toolchain, o Options, measured []Result, packages, dirs []string, cache string) (Visited, error) {
	var names []string
	for _, r := range measured {
		if r.Failed == "" {
			names = append(names, r.Name)
		}
	}
	only := "^(" + strings.Join(names, "|") + ")$"
	kept := b.keptName(cache, o)
	if kept != "" {
		kept += fmt.Sprintf(".%08x.visited", crc32.ChecksumIEEE([]byte(only)))
		var v Visited
		if text, err := os.ReadFile(kept); err == nil && json.Unmarshal(text, &v) == nil {
			return v, nil
		}
	}
	exe := b.Path + ".cover"
	if err := b.compile(ctx, tc, "-cover", "-covermode=set", "-coverpkg="+strings.Join(packages, ","), "-o", exe); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	v := Visited{}
	for _, entry := range b.entries {
		profile := exe + "." + entry
		env := append(tc.Env(), outEnv+"="+os.DevNull, onlyEnv+"="+only, visitEnv+"=1")
		if err := b.execute(ctx, exe, env, "-test.run=^"+entry+"$", "-test.timeout=0", "-test.coverprofile="+profile); err != nil {
			return nil, err
		}
		if err := v.read(profile, packages, dirs); err != nil {
			return nil, err
		}
	}
	if text, err := json.Marshal(v); kept != "" && err == nil && os.WriteFile(kept+".new", text, 0o644) == nil {
		os.Rename(kept+".new", kept)
	}
	return v, nil
}

// read adds a coverage profile. A line counts only if every block on it was
// executed, because its allocation can be in any of them.
func (v Visited) read(profile string, packages, dirs []string) error {
	f, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer f.Close()
	where := map[string]string{}
	for i, p := range packages {
		where[p] = dirs[i]
	}
	missed, hit := Visited{}, Visited{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		name, rest, ok := strings.Cut(sc.Text(), ".go:")
		if !ok {
			continue // the line that names the mode
		}
		var from, to, col, statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &col, &to, &col, &statements, &count); err != nil {
			return fmt.Errorf("coverage profile: %q: %w", sc.Text(), err)
		}
		dir, ok := where[path.Dir(name)]
		if !ok {
			continue
		}
		into := missed
		if count > 0 {
			into = hit
		}
		into.add(filepath.Join(dir, path.Base(name)+".go"), from, to)
	}
	for file, lines := range hit {
		for line := range lines {
			if !missed[file][line] {
				v.add(file, line, line)
			}
		}
	}
	return sc.Err()
}

func (v Visited) add(file string, from, to int) {
	if v[file] == nil {
		v[file] = map[int]bool{}
	}
	for n := from; n <= to; n++ {
		v[file][n] = true
	}
}
