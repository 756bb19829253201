// SPDX-License-Identifier: Apache-2.0

// Mutate finds code of a package whose behaviour its tests do not check. It
// makes one small change after the other in the code that they cover, and runs
// them: a change that makes no test fail has survived.
//
//	go run . [-only write.go,put] [-part 1/4] [-short=false] ../../sink/file
//
// It changes conditions and operators, leaves out calls, assignments and
// operands, and drops errors that are returned. Without -numbers, it leaves out
// changes of numbers, and of < to <= beside a constant that is a duration or a
// size: most of them survive, and show little.
//
// With -together, it leaves out the few that have to be compiled alone, which
// take most of the time; with -again FILE, it runs those that an earlier run
// has printed.
//
// With -tags, it tests several builds, one after the other, and runs in the
// later ones the mutants that survived before: "-tags /invariants" are the
// default build and one with a tag. A mutant is killed if one build kills it.
//
// With -tests, it runs the tests of other packages, too, for a package that is
// tested through the one that uses it: "-tests .,../.." are the tests of the
// package and those two directories above.
//
// Survivors that change nothing that a test could see are explained in the file
// testdata/mutants.txt of the package: a line for each as it is printed,
// without the position, and below it, indented, why. Mutate fails if one is
// left that is not explained, or if an explanation is obsolete, because the
// mutant no longer exists or because a test kills it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	only := flag.String("only", "", "comma-separated parts of file or function names: only mutants there")
	part := flag.String("part", "1/1", "run the mutants of one part, as 2/4")
	numbers := flag.Bool("numbers", false, "change numbers and the bounds of durations and sizes, too")
	jobs := flag.Int("jobs", 1, "test so many mutants at a time")
	again := flag.String("again", "", "a `file` with the output of a run before: only mutants that it lists")
	list := flag.Bool("uncovered", false, "list the mutants that no test executes")
	tags := flag.String("tags", "", "build tags; /-separated for several builds, as in /invariants")
	tests := flag.String("tests", ".", "comma-separated directories of the tests to run, relative to the package")
	var opt options
	flag.BoolVar(&opt.short, "short", true, "run the tests with -short")
	flag.BoolVar(&opt.together, "together", false, "leave out what has to be built alone: it takes most of the time")
	flag.StringVar(&opt.run, "run", "", "run the tests that match only")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutate [flags] directory")
		flag.PrintDefaults()
		os.Exit(2)
	}
	var index, parts int
	if _, err := fmt.Sscanf(*part, "%d/%d", &index, &parts); err != nil || index < 1 || index > parts {
		fatal(fmt.Errorf("-part: %q is not like 2/4", *part))
	}
	explained, err := readExplained(filepath.Join(flag.Arg(0), "testdata", "mutants.txt"))
	fatal(err)
	var before []byte
	if *again != "" {
		before, err = os.ReadFile(*again)
		fatal(err)
	}
	start, r := time.Now(), report{name: flag.Arg(0), explained: explained, listUncovered: *list, earlier: map[string]result{}}
	builds := buildsOf(strings.Split(*tests, ","), strings.Split(*tags, "/"))
	for i := range builds {
		opt.build, r.last = builds[i], i == len(builds)-1
		p, err := load(flag.Arg(0), opt)
		fatal(err)
		var chosen []int // numbers of mutants, from 1 on
		for i, m := range p.mutants {
			if matches(m, *only) && m.inPart(index, parts) && (*numbers || !m.tuning) && (!opt.together || m.switched != nil) &&
				(*again == "" || bytes.Contains(before, []byte(m.String()+"\n"))) {
				chosen = append(chosen, i+1)
			}
		}
		p.runAll(chosen, max(*jobs, 1), &r)
		os.RemoveAll(p.temp)
	}
	r.finish()
	r.print(time.Since(start))
	if r.bad > 0 {
		os.Exit(1)
	}
}

// buildsOf returns a build for each directory of tests and each list of tags.
func buildsOf(tests, tags []string) (builds []build) {
	for _, dir := range tests {
		for _, list := range tags {
			builds = append(builds, build{tests: dir, tags: list})
		}
	}
	return builds
}

// runAll runs the chosen mutants, unless an earlier build has killed them.
func (p *pkg) runAll(chosen []int, jobs int, r *report) {
	var all sync.WaitGroup
	turns := make(chan struct{}, jobs)
	for _, number := range chosen {
		m := p.mutants[number-1]
		if r.settled(m) {
			continue
		}
		turns <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-turns; all.Done() }()
			r.take(m, p.run(number))
		}()
	}
	all.Wait()
	r.mutants = append(r.mutants, p.mutants...)
}

// A report counts results, and prints the mutants that need attention.
type report struct {
	mu            sync.Mutex
	name          string
	explained     map[string]string
	listUncovered bool
	count         [uncovered + 1]int
	total, bad    int

	last    bool              // the build is the last one
	earlier map[string]result // results of earlier builds
	mutants []mutant          // the mutants of all builds
}

// settled reports whether an earlier build has killed m.
func (r *report) settled(m mutant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.earlier[m.String()]
	return ok && (got == killed || got == timedOut)
}

// take adds a result to that of the earlier builds, where a mutant that no test
// executes has none.
func (r *report) take(m mutant, got result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.earlier[m.String()]; ok && before == survived && got != killed && got != timedOut {
		got = survived
	}
	if !r.last {
		r.earlier[m.String()] = got
		return
	}
	delete(r.earlier, m.String())
	r.add(m, got)
}

// finish adds the results that no later build has changed, and checks that all
// explanations are needed.
func (r *report) finish() {
	for _, m := range r.mutants {
		if got, ok := r.earlier[m.String()]; ok {
			delete(r.earlier, m.String())
			r.add(m, got)
		}
	}
	r.bad += printStale(r.explained, r.mutants)
}

func (r *report) add(m mutant, got result) {
	_, ok := r.explained[m.key()]
	switch {
	case got == survived && ok:
		got = equivalent
	case got == survived:
		fmt.Println(m)
		r.bad++
	case got == killed && ok:
		fmt.Println("explained, but killed:", m)
		r.bad++
	case got == uncovered && r.listUncovered:
		fmt.Println("not covered:", m)
	}
	r.count[got]++
	r.total++
}

func (r *report) print(took time.Duration) {
	fmt.Printf("%s: %d mutants, %d killed, %d timed out, %d survived, %d explained, %d do not compile, %d not covered, in %v\n", r.name, r.total,
		r.count[killed], r.count[timedOut], r.count[survived], r.count[equivalent], r.count[invalid], r.count[uncovered], took.Round(time.Second))
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
}

// inPart reports whether m is in the given one of several parts, which is the
// same in every build.
func (m mutant) inPart(index, parts int) bool {
	return int(crc32.ChecksumIEEE([]byte(m.String()))%uint32(parts)) == index-1
}

func matches(m mutant, only string) bool {
	if only == "" {
		return true
	}
	function, _, _ := strings.Cut(m.what, ":")
	for _, part := range strings.Split(only, ",") {
		if strings.Contains(m.file, part) || strings.Contains(function, part) {
			return true
		}
	}
	return false
}

// readExplained returns the explanations by key.
func readExplained(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	explained, key := map[string]string{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") && trimmed == line:
		case trimmed == line:
			key = line
			explained[key] = ""
		case key == "":
			return nil, fmt.Errorf("%s:%d: an explanation of nothing", name, i+1)
		default:
			explained[key] += trimmed
		}
	}
	for key, why := range explained {
		if why == "" {
			return nil, fmt.Errorf("%s: %q is not explained", name, key)
		}
	}
	return explained, nil
}

// printStale prints the explanations of mutants that do not exist.
func printStale(explained map[string]string, mutants []mutant) (n int) {
	exists := map[string]bool{}
	for _, m := range mutants {
		exists[m.key()] = true
	}
	for key := range explained {
		if !exists[key] {
			fmt.Println("no such mutant any more:", key)
			n++
		}
	}
	return n
}
