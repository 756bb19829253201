// SPDX-License-Identifier: Apache-2.0

// Package runs measures: it runs the user's own benchmarks (and tests, when
// asked) in a child process and counts every allocation with its stack.
//
// The test binary gets one more file, in an overlay that only the go command
// sees. It runs each benchmark for n and for 2n iterations and takes the
// difference, site by site, so what happens once (set-up, warm-up, the testing
// package itself) cancels out exactly and the count of an operation is a
// fraction, not a number rounded down. The least of up to five such windows is
// taken, as what other goroutines do can only add.
package runs

import (
	"strings"
	"text/template"
)

// Names in the file that is added to a test binary.
const (
	entryName = "TestAllocsMeasuresThis"
	outEnv    = "NIB_ALLOCS_OUT"
	onlyEnv   = "NIB_ALLOCS_ONLY"
	budgetEnv = "NIB_ALLOCS_BUDGET"
	visitEnv  = "NIB_ALLOCS_VISIT"
)

// harness is the source of that file. All its names are long, because it
// shares the package with the user's.
var harness = template.Must(template.New("").Parse(`package {{.Package}}

import (
	allocsJSON "encoding/json"
	allocsFlag "flag"
	allocsOS "os"
	allocsRegexp "regexp"
	allocsRuntime "runtime"
	allocsStrconv "strconv"
	allocsStrings "strings"
	allocsTesting "testing"
	allocsTime "time"
)

type allocsCount struct{ objects, bytes int64 }

type allocsProfile map[[32]uintptr]allocsCount

func allocsSnapshot() allocsProfile {
	allocsRuntime.GC() // it also publishes the profile up to here
	var records []allocsRuntime.MemProfileRecord
	for n, ok := allocsRuntime.MemProfile(nil, true); !ok; {
		records = make([]allocsRuntime.MemProfileRecord, n+64)
		if n, ok = allocsRuntime.MemProfile(records, true); ok {
			records = records[:n]
		}
	}
	p := allocsProfile{}
	for i := range records {
		c := p[records[i].Stack0]
		p[records[i].Stack0] = allocsCount{c.objects + records[i].AllocObjects, c.bytes + records[i].AllocBytes}
	}
	return p
}

// allocsOwns remembers which stacks are of this file.
var allocsOwns = map[[32]uintptr]bool{}

// allocsOwn tells whether this file itself has made what has the stack: that is
// made between the windows.
func allocsOwn(stack [32]uintptr) bool {
	own, known := allocsOwns[stack]
	if known {
		return own
	}
	depth := 0
	for depth < len(stack) && stack[depth] != 0 {
		depth++
	}
	for frames := allocsRuntime.CallersFrames(stack[:depth]); ; {
		f, more := frames.Next()
		if !allocsStrings.HasPrefix(f.Function, "runtime.") && !allocsStrings.HasPrefix(f.Function, "internal/runtime/") {
			own = allocsStrings.Contains(f.File, "allocs_measures_this_")
			break
		}
		if !more {
			break
		}
	}
	allocsOwns[stack] = own
	return own
}

// allocsLast is the state after the last window: the next one starts there.
var allocsLast allocsProfile

// allocsWindow returns what a run adds to every stack and to the total.
func allocsWindow(run func(n int) allocsTime.Duration, n int) (allocsProfile, int64, allocsTime.Duration) {
	if allocsLast == nil {
		allocsLast = allocsSnapshot()
	}
	var m allocsRuntime.MemStats
	allocsRuntime.ReadMemStats(&m)
	mallocs := m.Mallocs
	began := allocsTime.Now()
	run(n)
	took := allocsTime.Since(began)
	allocsRuntime.ReadMemStats(&m)
	after := allocsSnapshot()
	added := allocsProfile{}
	for stack, a := range after {
		if c := allocsLast[stack]; a != c && !allocsOwn(stack) {
			added[stack] = allocsCount{a.objects - c.objects, a.bytes - c.bytes}
		}
	}
	allocsLast = after
	return added, int64(m.Mallocs - mallocs), took
}

type allocsFrame struct {
	Func string
	File string
	Line int
	Inlined bool
}

type allocsSite struct {
	Stack []allocsFrame
	PerOp, Total, Bytes float64
}

type allocsResult struct {
	Name    string
	PerOp   float64
	N       int
	Failed  string
	Sites   []allocsSite
}

func allocsMeasure(name string, run func(n int) allocsTime.Duration, most int) allocsResult {
	if allocsOS.Getenv("` + visitEnv + `") != "" {
		run(2)
		return allocsResult{Name: name}
	}
	first, _, took := allocsWindow(run, 1)
	n, fewest, windows := most, 4, 5
	milli, _ := allocsStrconv.Atoi(allocsOS.Getenv("` + budgetEnv + `"))
	budget := allocsTime.Duration(milli) * allocsTime.Millisecond
	slow := false
	if budget > 0 && took > budget {
		if took > 20*budget {
			return allocsResult{Name: name, Failed: "not measured: one iteration takes " + took.Round(budget).String() + ", with what it sets up"}
		}
		_, _, two := allocsWindow(run, 2)
		slow, windows = two-took > budget, 2
	}
	if slow { // a million allocations in one iteration, or much work
		n, fewest, windows = 1, 1, 1
	} else if budget > 0 {
		// What a run costs besides its iterations (a collection for each
		// sub-benchmark, set-up) does not grow with n. What else the machine
		// does makes both longer: the shorter of two is the truer.
		least := func(n int) (least allocsTime.Duration) {
			for i := 0; i < 2; i++ {
				if _, _, took := allocsWindow(run, n); i == 0 || took < least {
					least = took
				}
			}
			return least
		}
		each := (least(9) - least(1)) / 8
		if each < 1 {
			each = 1 // the difference of short runs can be anything, also negative
		}
		if fit := int(budget / (9 * each)); fit < n {
			n = fit
		}
		// Few iterations are too coarse for the smallest objects, of which the
		// profile shows one in eight; and some benchmarks meet something new
		// in each of their first thousand.
		if each < 200*allocsTime.Microsecond && most > 1200 {
			fewest = 1200
		} else if each < 10*allocsTime.Millisecond && most > 50 {
			fewest = 50
		} else if each < 50*allocsTime.Millisecond && most > 16 {
			fewest = 16
		}
	}
	if n < fewest {
		n = fewest
	}
	r := allocsResult{Name: name, N: n}
	// What others do can only add, so the least of each kind of window is the
	// truest; a site that was not seen in one of them has none.
	totals := map[[32]uintptr]float64{}
	for stack, c := range first {
		totals[stack] += float64(c.objects)
	}
	least := func(n int) (allocsProfile, int64) {
		var sites allocsProfile
		var all int64
		for w := 0; w < windows; w++ {
			p, total, _ := allocsWindow(run, n)
			for stack, c := range p {
				totals[stack] += float64(c.objects)
			}
			if w == 0 {
				sites, all = p, total
				continue
			}
			same := total == all
			if total < all {
				all = total
			}
			for stack, c := range sites {
				if now := p[stack]; now.objects < c.objects {
					sites[stack] = now
				}
			}
			if same {
				break // twice the same: nothing else ran
			}
		}
		return sites, all
	}
	added := func(first int) (sites allocsProfile, all int64) {
		allocsFirst = first
		var runs [2]allocsProfile
		var totals [2]int64
		for i := range runs { // on the same line, so that what both do once has one stack
			runs[i], totals[i] = least((1 + i) * n)
		}
		sites = runs[1]
		for stack, c := range runs[0] {
			long := sites[stack]
			sites[stack] = allocsCount{long.objects - c.objects, long.bytes - c.bytes}
		}
		return sites, totals[1] - totals[0]
	}
	sites, all := allocsProfile{}, int64(0)
	// Objects without pointers share blocks of 16 bytes, and only the one that
	// begins a block is in the profile: where one operation fills a block, always
	// the same one. An object more at the start makes it another one.
	for i, size := range []int{0, 8, 4, 12} {
		more, total := added(size)
		if i == 0 {
			sites, all = more, total
		}
		hidden := all
		for stack, c := range more {
			if c.bytes == 16*c.objects && c.objects > sites[stack].objects {
				sites[stack] = c
			}
		}
		for _, c := range sites {
			hidden -= c.objects
		}
		if slow || 3*hidden < int64(n) {
			break
		}
	}
	r.PerOp = float64(all) / float64(n)
	for stack, total := range totals {
		s := allocsSite{Total: total}
		s.PerOp = float64(sites[stack].objects) / float64(n)
		s.Bytes = float64(sites[stack].bytes) / float64(n)
		depth := 0
		for depth < len(stack) && stack[depth] != 0 {
			depth++
		}
		for frames := allocsRuntime.CallersFrames(stack[:depth]); ; {
			f, more := frames.Next()
			s.Stack = append(s.Stack, allocsFrame{f.Function, f.File, f.Line, f.Func == nil})
			if !more {
				break
			}
		}
		r.Sites = append(r.Sites, s)
	}
	return r
}

// allocsFirst is the size of an object that is made before each benchmark, when
// the collector has emptied the block that the smallest objects go to.
var allocsFirst int

var allocsKept interface{}

// allocsNudged makes that object. It is on the stack when there is none, too: else
// what a benchmark allocates would be another site then.
func allocsNudged(f func(*allocsTesting.B)) func(*allocsTesting.B) {
	return func(b *allocsTesting.B) {
		switch allocsFirst {
		case 4:
			allocsKept = new(int32)
		case 8:
			allocsKept = new(int64)
		case 12:
			allocsKept = new([3]int32)
		}
		f(b)
	}
}

func {{.Entry}}(t *allocsTesting.T) {
	if allocsOS.Getenv("` + visitEnv + `") == "" {
		allocsRuntime.MemProfileRate = 1 // Go 1.17 and 1.18 forget what GODEBUG says
	}
	out, err := allocsOS.Create(allocsOS.Getenv("` + outEnv + `"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	only := allocsRegexp.MustCompile(allocsOS.Getenv("` + onlyEnv + `"))
	results := allocsJSON.NewEncoder(out)
	report := func(r allocsResult) {
		if err := results.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	_, _, _, _ = only, report, allocsFlag.Set, allocsNudged
{{range .Benchmarks}}	if only.MatchString({{printf "%q" .}}) {
		var last allocsTesting.BenchmarkResult
		r := allocsMeasure({{printf "%q" .}}, func(n int) allocsTime.Duration {
			allocsFlag.Set("test.benchtime", allocsStrconv.Itoa(n)+"x")
			last = allocsTesting.Benchmark(allocsNudged({{.}}))
			return last.T
		}, 2000)
		if last.N == 0 {
			r.Failed = "the benchmark failed or was skipped"
		}
		report(r)
	}
{{end}}{{range .Tests}}	if only.MatchString({{printf "%q" .}}) {
		failed := ""
		r := allocsMeasure({{printf "%q" .}}, func(n int) allocsTime.Duration {
			began := allocsTime.Now()
			for i := 0; i < n; i++ {
				if !t.Run({{printf "%q" .}}, {{.}}) {
					failed = "the test failed"
				}
			}
			return allocsTime.Since(began)
		}, 5)
		if failed != "" {
			r.Failed = failed
		}
		report(r)
	}
{{end}}}
{{with .Kept}}
func init() {
	for _, f := range []interface{}{
{{range .}}		{{.}},
{{end}}	} {
		if f == nil {
			panic(f)
		}
	}
}
{{end}}`))

// file is what the template is filled with.
type file struct {
	Package    string
	Entry      string
	Benchmarks []string
	Tests      []string
	Kept       []string // functions that get code in any case
}

func (f file) source() (string, error) {
	var b strings.Builder
	err := harness.Execute(&b, f)
	return b.String(), err
}
