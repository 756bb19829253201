// SPDX-License-Identifier: Apache-2.0

// Command compare measures two commits against each other:
//
//	go run ./cmd/compare -base v0.1.0
//	go run ./cmd/compare -base HEAD~5 -set pools,spool -turns 8
//
// It builds nibbench in a temporary checkout of the base and in the working
// tree, runs the two in turn, and compares the minimum of each row of nib's.
// The rows of the other libraries are the same code in both, so the median of
// their differences, printed last, is due to the machine. The exit status is 1
// if a row of nib's is slower than allowed. Run it within the bench module, on
// a machine that does nothing else.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nib-log/nib/bench/report"
)

func main() {
	slower, err := compare()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if slower > 0 {
		os.Exit(1)
	}
}

func compare() (slower int, err error) {
	base := flag.String("base", "", "`commit` to compare the working tree with")
	sets := flag.String("set", "calls,pools,files,spool", "which `sets` of nibbench to run")
	run := flag.String("run", "", "only scenarios that match this `expression`")
	turns := flag.Int("turns", 4, "runs of each of the two")
	rounds := flag.Int("rounds", 10, "rounds in each run")
	limit := flag.Float64("limit", 1.02, "largest ratio to the base")
	flag.Parse()
	if *base == "" {
		return 0, errors.New("-base is missing: a commit, branch or tag")
	}
	dir, err := os.MkdirTemp("", "nib-compare-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "base")
	if err := command("git", "worktree", "add", "-q", "--detach", tree, *base); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, command("git", "worktree", "remove", "--force", tree)) }()
	folders := []string{filepath.Join(tree, "bench"), "."}
	for i, folder := range folders {
		if err := command("go", "-C", folder, "build", "-trimpath", "-o", binary(dir, i), "./cmd/nibbench"); err != nil {
			return 0, err
		}
	}
	for _, set := range strings.Split(*sets, ",") {
		best := [2]minima{{}, {}}
		for turn := range 2 * *turns {
			i := (turn + turn/2) % 2 // base, new, new, base, …
			if err := best[i].measure(dir, folders[i], binary(dir, i), set, *run, *rounds); err != nil {
				return 0, fmt.Errorf("%s: %w", set, err)
			}
		}
		slower += write(os.Stdout, set, best[0], best[1], *limit)
	}
	return slower, nil
}

func binary(dir string, i int) string { return filepath.Join(dir, [2]string{"old", "new"}[i]) }

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// minima are the fastest rounds of all runs.
type minima map[[2]string]float64 // keyed by scenario and contestant

// measure runs nibbench once in its module, where it finds its programs.
func (m minima) measure(dir, folder, program, set, run string, rounds int) error {
	file := filepath.Join(dir, "results.txt")
	cmd := exec.Command(program, "-set", set, "-run", run, "-rounds", fmt.Sprint(rounds), "-o", file)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	results, err := report.Read(f)
	if err != nil {
		return err
	}
	m.add(results)
	return os.Remove(file)
}

func (m minima) add(results *report.Results) {
	for _, l := range results.Lines {
		for _, v := range l.Values {
			key := [2]string{l.Scenario, l.Contestant}
			if old, ok := m[key]; v.Unit == report.UnitTime && (!ok || v.Number < old) {
				m[key] = v.Number
			}
		}
	}
}

// write prints the rows of a set and returns the number of nib's rows that are
// slower than allowed.
func write(w io.Writer, set string, before, after minima, limit float64) (slower int) {
	keys := make([][2]string, 0, len(after))
	for key := range after {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\tbefore, ns\tafter, ns\tratio\t\n", set)
	var others []float64
	for _, key := range keys {
		old, ok := before[key]
		ratio := after[key] / old
		switch {
		case !ok:
			continue
		case !strings.HasPrefix(key[1], "nib"):
			others = append(others, ratio)
			continue
		}
		mark := ""
		if ratio > limit {
			mark = "slower"
			slower++
		}
		fmt.Fprintf(tw, "%s/%s\t%.1f\t%.1f\t%.3f\t%s\n", key[0], key[1], old, after[key], ratio, mark)
	}
	_ = tw.Flush() // as reliable as Fprintf
	if slices.Sort(others); len(others) > 0 {
		fmt.Fprintf(w, "other libraries: median %.3f, from %.3f to %.3f\n", others[len(others)/2], others[0], others[len(others)-1])
	}
	fmt.Fprintln(w)
	return slower
}
