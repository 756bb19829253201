// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

func TestDecide(t *testing.T) {
	hot := []Seen{{Name: "B", PerOp: 1, Total: 100}}
	warm := []Seen{{Name: "B", PerOp: 0, Total: 1}}
	slow := []Seen{{Name: "B", PerOp: 0.02, Total: 9}}
	first, size, benchmark := Finding{Possible, First}, Finding{Possible, Size}, Finding{Possible, Benchmark}
	agreement, anyRun, counted := Finding{Possible, Agreement}, Finding{Possible, AnyRun}, Finding{Verdict: Counted}
	for _, c := range []struct {
		name string
		kind heapcalls.Kind
		e    Evidence
		want Finding
	}{
		{"on every way", heapcalls.Object, Evidence{Code: true, Reach: Surely}, anyRun},
		{"behind a branch", heapcalls.Object, Evidence{Code: true, Reach: Maybe}, benchmark},
		{"behind an error", heapcalls.Object, Evidence{Code: true, Reach: Rarely, Why: "an error"}, first},
		{"append", heapcalls.Grow, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Growth}, size},
		{"append behind an error", heapcalls.Grow, Evidence{Code: true, Reach: Rarely, Rule: heapcalls.Growth}, first},
		{"number in an interface", heapcalls.BoxSmall, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized}, size},
		{"make with a stack buffer", heapcalls.Make, Evidence{Code: true, Reach: Maybe}, size},
		{"make that escapes behind a branch", heapcalls.Make, Evidence{Code: true, Reach: Maybe, Escape: &compiler.Escape{}}, benchmark},
		{"seen", heapcalls.Object, Evidence{Code: true, Reach: Maybe, Runs: hot}, counted},
		{"seen, not in the code", heapcalls.Object, Evidence{Reach: Maybe, Runs: hot}, counted},
		{"seen on what looks cold", heapcalls.Object, Evidence{Code: true, Reach: Rarely, Why: "an error", Runs: hot}, counted},
		{"seen now and then where the pool is empty", heapcalls.Object, Evidence{Reach: Rarely, Why: "the pool is empty", Runs: slow}, counted},
		{"seen while warming up", heapcalls.Object, Evidence{Code: true, Reach: Maybe, Runs: warm}, first},
		{"sure, seen while warming up", heapcalls.Object, Evidence{Code: true, Reach: Surely, Runs: warm}, agreement},
		{"append seen while warming up", heapcalls.Grow, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Growth, Runs: warm}, size},
		{
			"append seen now and then", heapcalls.Grow,
			Evidence{Code: true, Reach: Surely, Rule: heapcalls.Growth, Runs: slow}, counted,
		},
		{"append seen each time", heapcalls.Grow, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Growth, Runs: hot}, counted},
		{"a string that outlives the function", heapcalls.ToString, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, anyRun},
		{"a concatenation that outlives the function", heapcalls.Concat, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, anyRun},
		{"bytes that outlive the function", heapcalls.ToBytes, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, anyRun},
		{"a string of runes that outlives it", heapcalls.FromRunes, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, anyRun},
		{"a string that outlives it, behind a branch", heapcalls.ToString, Evidence{Code: true, Reach: Maybe, Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, size},
		{"a local string", heapcalls.ToString, Evidence{Code: true, Reach: Surely, Rule: heapcalls.Sized}, size},
		{"sure, and only the set-up of a benchmark executes it", heapcalls.Object, Evidence{Code: true, Reach: Surely, Runs: warm, SetUp: true}, anyRun},
		{"behind a branch that only set-up takes", heapcalls.Object, Evidence{Code: true, Reach: Maybe, Runs: warm, SetUp: true}, first},
		{"behind a branch, and no run executes the function in each operation", heapcalls.Object, Evidence{Code: true, Reach: Maybe, Runs: warm, SetUp: true, Unreached: true}, benchmark},
		{"what only appends show in set-up still grows", heapcalls.Grow, Evidence{Code: true, Reach: Maybe, Rule: heapcalls.Growth, Runs: warm, SetUp: true, Unreached: true}, size},
		{"behind an error in set-up", heapcalls.Object, Evidence{Code: true, Reach: Rarely, Why: "an error", Runs: warm, SetUp: true, Unreached: true}, first},
		{"sure, visited, never seen", heapcalls.Object, Evidence{Code: true, Reach: Surely, Visited: true}, agreement},
	} {
		s := &Site{Kind: c.kind, Evidence: c.e}
		s.decide()
		if s.Finding != c.want {
			t.Errorf("%s: got %v, want %v", c.name, s.Finding, c.want)
		}
		if s.Reason == "" && s.Missing != First {
			t.Errorf("%s: got no reason", c.name)
		}
	}
}

// Runs that execute a line, and do not allocate where its code does, show
// neither that the code does not allocate nor what they lack.
func TestRunsThatContradictTheCode(t *testing.T) {
	agreement := Finding{Possible, Agreement}
	for _, c := range []struct {
		name string
		kind heapcalls.Kind
		e    Evidence
		want Finding
	}{
		{"behind a branch", heapcalls.Object, Evidence{}, agreement},
		{"while warming up", heapcalls.Object, Evidence{Runs: []Seen{{Name: "B", Total: 1}}}, agreement},
		{
			"a string that outlives it", heapcalls.ToString,
			Evidence{Rule: heapcalls.Sized, Escape: &compiler.Escape{}}, agreement,
		},
		{"a number", heapcalls.BoxSmall, Evidence{Rule: heapcalls.Sized}, Finding{Possible, Size}},
		{
			"a number, in code without it", heapcalls.BoxSmall,
			Evidence{Rule: heapcalls.Sized, Gone: true}, agreement,
		},
		{
			"a slice that is never full", heapcalls.Grow,
			Evidence{Rule: heapcalls.Growth, Gone: true}, Finding{Possible, Size},
		},
		{"in a library", heapcalls.Inside, Evidence{}, Finding{Possible, Branch}},
		{"in a library, in code without it", heapcalls.Inside, Evidence{Gone: true}, agreement},
	} {
		c.e.Code, c.e.Reach, c.e.Visited, c.e.Came = true, Maybe, true, true
		s := &Site{Kind: c.kind, Evidence: c.e}
		s.decide()
		if s.Finding != c.want {
			t.Errorf("%s: got %v, want %v", c.name, s.Finding, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	inModule := func(file string) bool { return file[0] == 'm' }
	own, lib := binary.Frame{Func: "m.F", File: "m.go", Line: 3}, binary.Frame{Func: "fmt.Sprint", File: "fmt.go", Line: 9}
	k, at := place([]binary.Frame{own}, heapcalls.Box, inModule)
	if want := (key{"m.go", 3, heapcalls.Box, ""}); k != want || at != 0 {
		t.Errorf("own line: got %+v at %d", k, at)
	}
	k, at = place([]binary.Frame{lib, own}, heapcalls.Box, inModule)
	if want := (key{"m.go", 3, heapcalls.Inside, "fmt.Sprint"}); k != want || at != 1 {
		t.Errorf("in a library: got %+v at %d", k, at)
	}
	if _, at = place([]binary.Frame{lib}, heapcalls.Box, inModule); at != -1 {
		t.Errorf("outside of the module: got %d", at)
	}
}

func TestTrimRuntime(t *testing.T) {
	for _, c := range []struct {
		runtime []string
		want    heapcalls.Kind
	}{
		{[]string{"runtime.mallocgc", "runtime.convT64"}, heapcalls.BoxSmall},
		{[]string{"runtime.newobject", "runtime.typeAssert"}, ""}, // for itself
		{nil, ""},
	} {
		var stack []binary.Frame
		for _, name := range append(c.runtime, "m.F") {
			stack = append(stack, binary.Frame{Func: name})
		}
		if rest, kind := trimRuntime(stack); len(rest) != 1 || kind != c.want {
			t.Errorf("%q: got %v, %q, want %q", c.runtime, rest, kind, c.want)
		}
	}
}
