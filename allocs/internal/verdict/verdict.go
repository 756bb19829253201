// SPDX-License-Identifier: Apache-2.0

// Package verdict joins the sources of evidence and decides.
//
// Each source alone is often wrong. The compiler shows the reasons, but reports
// growth as an escape and omits some calls; the code shows every call to the
// runtime, but not whether it is executed; a run is exact, but only for the
// path it took. They are joined on the full inline stack, which all three have.
package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// Verdict is the answer for one place, seen from one root, on one toolchain.
type Verdict string

// The verdicts, from the best to the worst.
const (
	None     Verdict = "none"     // the line does not allocate
	Possible Verdict = "possible" // the line can allocate, and no run counted an allocation
	Counted  Verdict = "counted"  // a run counted allocations of the line in steady state
)

// Missing is the evidence that a possible allocation lacks.
type Missing string

// What is missing, from the least to the most serious.
const (
	Nothing   Missing = ""
	First     Missing = "first"     // a run with a panic, an error or a first use
	Size      Missing = "size"      // a run beyond a size
	Branch    Missing = "branch"    // a run that takes the branch: runs execute the line
	Benchmark Missing = "benchmark" // a run that executes the line
	// The code allocates where it executes the line, and runs do not.
	Agreement Missing = "agreement"
	AnyRun    Missing = "any run" // any run: the line allocates on every path
)

var missings = []Missing{Nothing, First, Size, Branch, Benchmark, Agreement, AnyRun}

// Finding is a verdict with what it lacks. Only Possible lacks something.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Missing Missing `json:"missing,omitempty"`
}

// Rank orders findings from the best, 0.
func (f Finding) Rank() int {
	return slices.Index([]Verdict{None, Possible, Counted}, f.Verdict)*len(missings) +
		slices.Index(missings, f.Missing)
}

// Or returns the worse of two findings.
func (f Finding) Or(other Finding) Finding {
	if other.Rank() > f.Rank() {
		return other
	}
	return f
}

// Allocates reports whether each operation, or some of them, certainly
// allocate.
func (f Finding) Allocates() bool { return f.Verdict == Counted || f.Missing == AnyRun }

// Site is a source line of the module below which memory is allocated.
type Site struct {
	Func   string // the function that contains the line
	File   string
	Line   int
	Kind   heapcalls.Kind
	Callee string // for Inside: the function that the line calls
	Inner  heapcalls.Kind
	Finding
	Reason   string         // the verdict in words
	Stack    []binary.Frame // allocation first, root last
	Evidence Evidence

	placed float64 // for Inside: the count of the place that Stack begins with
}

// Evidence has the findings of each source on a site.
type Evidence struct {
	Code    bool // the executable has the call
	Calls   int  // number of such calls with the same reach
	Reach   Reach
	Why     string // the reason for a cold reach
	Rule    heapcalls.Rule
	Escape  *compiler.Escape // nil when the compiler prints nothing
	Values  []string         // all values of the line that may be meant
	Runs    []Seen
	Visited bool // runs execute the line in each operation, and did not see it allocate
	Came    bool // runs execute the line in each operation
	Gone    bool // runs execute the line in code that has no such call there
	SetUp   bool // it is known that no run executes the line in each operation
	// Unreached is set if SetUp is, and no run executes the root in each
	// operation.
	Unreached bool
}

// Seen is the result of one benchmark or test.
type Seen struct {
	Name  string
	PerOp float64 // allocations per operation when warm
	Total float64 // allocations in the whole run, including warm-up
	Bytes float64 // bytes per operation
}

// key identifies a site.
type key struct {
	file   string
	line   int
	kind   heapcalls.Kind
	callee string
}

// home returns the index of the innermost frame that is in the module, or -1.
func home(stack []binary.Frame, inModule func(file string) bool) int {
	return slices.IndexFunc(stack, func(f binary.Frame) bool { return inModule(f.File) })
}

// place returns the key of a stack. Stacks of runs begin with the functions of
// the runtime; they show what kind of allocation it was.
func place(stack []binary.Frame, kind heapcalls.Kind, inModule func(file string) bool) (key, int) {
	i := home(stack, inModule)
	if i < 0 {
		return key{}, -1
	}
	k := key{file: stack[i].File, line: stack[i].Line, kind: kind}
	if i > 0 {
		k.kind, k.callee = heapcalls.Inside, binary.Normalise(stack[i-1].Func)
	}
	return k, i
}

// newSite returns the site at frame i of a stack.
func newSite(k key, stack []binary.Frame, i int, inner heapcalls.Kind) *Site {
	return &Site{
		Func: binary.Normalise(stack[i].Func), File: k.file, Line: k.line,
		Kind: k.kind, Callee: k.callee, Inner: inner, Stack: stack,
	}
}

// measuredAt makes a measured stack the one of the site, if the callee
// allocates more there than at the place before. The choice is the same in each
// run.
func (s *Site) measuredAt(stack []binary.Frame, kind heapcalls.Kind, perOp float64) {
	perOp = math.Round(2 * perOp)
	if s.Kind != heapcalls.Inside || perOp < s.placed ||
		perOp == s.placed && s.placed > 0 && fmt.Sprint(stack) >= fmt.Sprint(s.Stack) {
		return
	}
	s.Stack, s.Inner, s.placed = stack, kind, perOp
}

// trimRuntime cuts the runtime's own frames from the stack of a run and returns
// what kind of allocation they make: "" if the runtime allocated for itself, as
// it sometimes does for the caches of type switches.
func trimRuntime(stack []binary.Frame) (rest []binary.Frame, kind heapcalls.Kind) {
	for len(stack) > 0 {
		k, _, ok := heapcalls.Of(stack[0].Func)
		if !ok && !heapcalls.Opaque(stack[0].Func) {
			break
		}
		kind = k // the frame next to the caller decides
		stack = stack[1:]
	}
	return stack, kind
}

// decide gives the site its verdict from the evidence.
func (s *Site) decide() {
	e := &s.Evidence
	kind := s.Kind
	if kind == heapcalls.Inside {
		kind = s.Inner
	}
	grows := e.Rule != heapcalls.Each
	if s.Kind == heapcalls.Make && e.Reach == Maybe && e.Escape == nil {
		grows = true // the branch is the compiler's own: small ones stay on the stack
	}
	outlives := e.Escape != nil && s.Kind == kind &&
		sizeRules[kind] == sizeRules[heapcalls.Concat] &&
		(kind != heapcalls.Concat || !addsNothing(e.Escape.What))
	each := !grows || outlives // each time that the line is executed
	best, total := e.most()
	unreached := "; no benchmark reaches it"
	if e.Came {
		unreached = "; no run shows it"
	}
	gone := e.Gone && (each || e.Rule == heapcalls.Sized) // a full slice is another matter
	switch {
	case e.Visited && e.Code && best.PerOp == 0 && (gone || each && s.executed(kind)):
		s.possible(Agreement, "the runs execute the line and do not allocate there, "+
			"perhaps as it is inlined: let a benchmark keep the result")
	case total > 0:
		s.measured(kind, best.Name, best.PerOp)
	case e.Reach == Rarely:
		s.possible(First, e.Why)
	case each && e.Reach == Surely:
		s.possible(AnyRun, "on every way through the function"+unreached)
	case grows && e.Visited && e.Reach == Surely:
		s.possible(Size, sizeRule(kind)+"; not in the runs")
	case grows:
		s.possible(Size, sizeRule(kind))
	case e.Came:
		s.possible(Branch, "behind a branch that the runs did not take")
	default:
		s.possible(Benchmark, "behind a branch"+unreached)
	}
}

// executed reports whether what executes the line of the site, and each block
// on it, executes the call that allocates. In a function of another module
// there can be branches that are not on the line.
func (s *Site) executed(kind heapcalls.Kind) bool {
	return s.Evidence.Reach == Surely || s.Evidence.Reach == Maybe && s.Kind == kind
}

func (s *Site) possible(m Missing, reason string) {
	s.Finding, s.Reason = Finding{Possible, m}, reason
}

// addsNothing reports whether an operand of a concatenation is the constant "".
// Then the result may be the other operand, without a copy.
func addsNothing(expression string) bool {
	return strings.Contains(expression, `+ ""`) || strings.Contains(expression, `"" +`)
}

// most returns the run with the highest count, and the highest total of any.
func (e *Evidence) most() (best Seen, total float64) {
	for _, r := range e.Runs {
		if r.PerOp > best.PerOp || best.Name == "" {
			best = r
		}
		total = max(total, r.Total)
	}
	return best, total
}

// measured decides on a site that was seen in a run. What the operations of a
// run allocate counts, however rarely they do; that it grows, or looks cold, is
// said with the count.
func (s *Site) measured(kind heapcalls.Kind, where string, perOp float64) {
	amortised := s.Evidence.Rule == heapcalls.Growth || kind == heapcalls.Grow ||
		kind == heapcalls.MapGrow
	switch {
	case perOp > 0:
		s.Finding = Finding{Verdict: Counted}
		s.Reason = fmt.Sprintf("seen in %s: %s per operation%s", where, Number(perOp),
			s.fraction(perOp, amortised))
	case amortised || s.Evidence.Rule == heapcalls.Sized:
		s.possible(Size, fmt.Sprintf("%s; in %s only while warming up", sizeRule(kind), where))
	case s.Evidence.SetUp && s.Evidence.Code && s.Evidence.Reach == Surely &&
		s.Evidence.Rule == heapcalls.Each:
		s.possible(AnyRun, fmt.Sprintf(
			"on every way through the function, which %s calls in its set-up only", where))
	case s.Evidence.Unreached && s.Evidence.Reach == Maybe:
		s.possible(Benchmark,
			fmt.Sprintf("behind a branch; %s executes it in its set-up only", where))
	case s.Evidence.Code && s.Evidence.Reach == Surely:
		s.possible(Agreement,
			fmt.Sprintf("on every way through the function, and in %s only while warming up",
				where))
	default:
		s.possible(First, fmt.Sprintf("in %s only while warming up", where))
	}
}

// Frequency says how often operations allocate that have a count of perOp on
// average.
func Frequency(perOp float64) string {
	if perOp > 0.75 {
		return "each operation"
	}
	n := int(math.Round(1 / perOp))
	ordinal := "th"
	if n%100/10 != 1 {
		ordinal = [...]string{"th", "st", "nd", "rd", "th", "th", "th", "th", "th", "th"}[n%10]
	}
	return fmt.Sprintf("each %d%s operation", n, ordinal)
}

// fraction returns why a count is not a whole number, or "".
func (s *Site) fraction(perOp float64, amortised bool) string {
	often := ""
	if perOp <= 0.75 {
		often = ", " + Frequency(perOp)
	}
	switch {
	case perOp == math.Trunc(perOp):
		return ""
	case amortised:
		return often + ", as it grows now and then"
	}
	return often + ", as not all operations allocate the same"
}

// Number formats a count, with two digits of a small one.
func Number(x float64) string {
	if x < 0.1 {
		return fmt.Sprintf("%.2g", x)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// sizeRules describe when a kind that does not always allocate does.
var sizeRules = map[heapcalls.Kind]string{
	heapcalls.Grow:      "when the slice is full",
	heapcalls.Move:      "when the slice outlives the function",
	heapcalls.MapGrow:   "when the map is full",
	heapcalls.BoxSmall:  "for values above 255",
	heapcalls.Concat:    "above 32 bytes, or when the result outlives the function",
	heapcalls.ToString:  "above 32 bytes, or when the result outlives the function",
	heapcalls.ToBytes:   "above 32 bytes, or when the result outlives the function",
	heapcalls.FromRunes: "above 32 bytes, or when the result outlives the function",
	heapcalls.ToRunes:   "above 32 bytes, or when the result outlives the function",
	heapcalls.Make:      "above 32 bytes; on Go 1.24 and before at any size",
	heapcalls.Goroutine: "when no finished goroutine is left to use again",
	heapcalls.Defer:     "when the processor's free list is empty",
}

func sizeRule(kind heapcalls.Kind) string { return cmp.Or(sizeRules[kind], "from some size on") }
