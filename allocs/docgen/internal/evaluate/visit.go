// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// visit returns the lines that the benchmarks execute in each operation: those
// of the blocks that a run with coverage executes more often when it has more
// iterations. A call that only the set-up makes allocates as often in the
// longer run as in the shorter, so the counts do not show it.
func (m *Module) visit(ctx context.Context, dir, pkg string) (map[line]bool, error) {
	packages, err := run(ctx, dir, nil, "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}", m.Package)
	if err != nil {
		return nil, err
	}
	module, err := run(ctx, dir, nil, "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	test := filepath.Join(dir, "evaluate.cover.test")
	if _, err := run(ctx, dir, nil, "go", "test", "-c", "-vet=off", "-covermode=count", "-coverpkg="+strings.Join(strings.Fields(string(packages)), ","), "-o", test, m.Package); err != nil {
		return nil, err
	}
	var profiles [2]string
	for i, n := range []int{2, 4} {
		profile := filepath.Join(dir, "evaluate.cover")
		if _, err := run(ctx, pkg, nil, test, "-test.run=^$", "-test.bench="+m.Bench, "-test.cpu=1", fmt.Sprintf("-test.benchtime=%dx", n), "-test.coverprofile="+profile); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return nil, err
		}
		profiles[i] = string(text)
	}
	return steady(profiles, strings.TrimSpace(string(module))), nil
}

// covered is a block of a coverage profile: its start, and how often each of
// the two runs executed it.
type covered struct {
	at     [2]int // line and column
	counts [2]int
}

// steady returns the lines of a module whose block the second profile has
// executed more often than the first. Of several blocks on a line, the first
// one counts: the body of a function literal is a separate block.
func steady(profiles [2]string, module string) map[line]bool {
	block := regexp.MustCompile(`^` + regexp.QuoteMeta(module) + `/(.*):(\d+)\.(\d+),(\d+)\.\d+ \d+ (\d+)$`)
	first := map[line]covered{}
	for i, profile := range profiles {
		for _, text := range strings.Split(profile, "\n") {
			f := block.FindStringSubmatch(text)
			if f == nil {
				continue
			}
			var n [4]int
			for j := range n {
				n[j], _ = strconv.Atoi(f[j+2])
			}
			from, column, to, count := n[0], n[1], n[2], n[3]
			for at := from; at <= to; at++ {
				l := line{f[1], at}
				b := covered{at: [2]int{from, column}}
				if have, ok := first[l]; ok && slices.Compare(have.at[:], b.at[:]) < 0 {
					continue
				} else if ok && have.at == b.at {
					b = have
				}
				b.counts[i] = count
				first[l] = b
			}
		}
	}
	out := map[line]bool{}
	for l, b := range first {
		if b.counts[1] > b.counts[0] {
			out[l] = true
		}
	}
	return out
}
