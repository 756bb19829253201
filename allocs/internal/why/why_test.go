// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// TestExplainRunes keeps the reasons for bytes away from conversions of runes.
func TestExplainRunes(t *testing.T) {
	for function, want := range map[string]string{
		"intstring": "string-of-runes", "slicerunetostring": "string-of-runes",
		"stringtoslicerune": "runes-of-string", "rawruneslice": "runes-of-string",
		"slicebytetostring": "string-of-bytes", "stringtoslicebyte": "bytes-of-string",
	} {
		kind, _, _ := heapcalls.Of("runtime." + function)
		if a := why.Explain(&verdict.Site{Kind: kind}, "", "", false); a.Pattern != want {
			t.Errorf("%s: the reason is %q (%s), want %q", function, a.Pattern, a.Reason, want)
		}
	}
}

func TestExplain(t *testing.T) {
	escape := func(what string, moved bool, steps ...string) verdict.Evidence {
		e := &compiler.Escape{What: what, Moved: moved, Stack: []compiler.Position{{File: "f.go", Line: 1}}}
		for _, s := range steps {
			e.Reasons = append(e.Reasons, compiler.Step{Text: s, At: compiler.Position{File: "f.go", Line: 1}})
		}
		return verdict.Evidence{Escape: e}
	}
	inside := func(callee string) *verdict.Site {
		return &verdict.Site{Kind: heapcalls.Inside, Callee: callee, Func: "m.F", Stack: []binary.Frame{{Func: callee}, {Func: "m.F"}}}
	}
	for _, c := range []struct {
		name      string
		site      *verdict.Site
		statement string
		logCall   bool
		want      string
	}{
		{"a slice in a pool", &verdict.Site{Kind: heapcalls.Box}, "pool.Put(b)", false, "pool-put-value"},
		{"the address of a variable in a pool", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("b", true, "from (*sync.Pool).Put(p, b) (call parameter)")}, "b := *pool.Get().(*[]byte)", false, "pool-put-address"},
		{"slog pairs", &verdict.Site{Kind: heapcalls.BoxSmall, Evidence: escape("n", false, "from (*slog.Logger).log(l) (call parameter)")}, `log.Debug("m", "n", n)`, true, "slog-pairs"},
		{"slog attributes", &verdict.Site{Kind: heapcalls.Box, Evidence: escape("~r0", false, "from (*slog.Logger).log(l) (call parameter)")}, `log.Debug("m", slog.Int("n", n))`, true, "slog-attrs-boxed"},
		{"the sixth attribute", inside("log/slog.(*Record).AddAttrs"), "l.LogAttrs()", true, "slog-sixth-attribute"},
		{"boxed in a log call", &verdict.Site{Kind: heapcalls.Box}, `log.Info().Any("v", v).Msg("")`, true, "boxed-before-level-check"},
		{"boxed", &verdict.Site{Kind: heapcalls.Box}, "kept = v", false, "boxed-argument"},
		{"arguments", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("... argument", false)}, "f(a, b)", false, "variadic-slice"},
		{"an array for an interface", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("b", true, "from w.Write(b[:]) (call parameter)")}, "var b [64]byte", false, "stack-array-to-interface"},
		{"a method value", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("x.count", false)}, "f = x.count", false, "method-value-kept"},
		{"a goroutine", &verdict.Site{Kind: heapcalls.Goroutine}, "go f()", false, "go-statement"},
		{"a function literal", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("func literal", false)}, "f = func() {}", false, "closure-kept"},
		{"a time zone", inside("time.LoadLocation"), "", false, "load-location"},
		{"a time", inside("time.Time.Format"), "", false, "time-format"},
		{"an error", inside("fmt.Errorf"), "", false, "errorf"},
		{"a text", inside("fmt.Sprintf"), "", false, "sprintf"},
		{"a number", inside("strconv.Itoa"), "", false, "strconv-string"},
		{"an expression", inside("regexp.MustCompile"), "", false, "regexp-compile"},
		{"the caller", inside("runtime.Caller"), "", false, "runtime-caller"},
		{"JSON", inside("encoding/json.Marshal"), "", false, "json"},
		{"a copy of bytes", &verdict.Site{Kind: heapcalls.ToString}, "", false, "string-of-bytes"},
		{"parts of a string", &verdict.Site{Kind: heapcalls.Concat}, "", false, "concat"},
		{"make of n", &verdict.Site{Kind: heapcalls.Make, Evidence: escape("make([]byte, n)", false)}, "", false, "make-variable"},
		{"make of n by its size", &verdict.Site{Kind: heapcalls.Make,
			Evidence: escape("make([]byte, n)", false, "from make([]byte, n) (non-constant size)"),
		}, "", false, "make-variable"},
		{"make of n for the caller", &verdict.Site{Kind: heapcalls.Make,
			Evidence: escape("make([]byte, n)", false, "from return b (return)"),
		}, "", false, "make-per-call"},
		{"make of a constant", &verdict.Site{Kind: heapcalls.Make, Evidence: escape("make([]byte, 0, 512)", false)}, "", false, "make-per-call"},
		{"append each time", &verdict.Site{Kind: heapcalls.Grow, Finding: verdict.Finding{Verdict: verdict.Counted}}, "", false, "append-from-empty"},
		{"append", &verdict.Site{Kind: heapcalls.Grow, Finding: verdict.Finding{Verdict: verdict.Possible}}, "", false, "append-grows"},
		{"a map each time", &verdict.Site{Kind: heapcalls.MapGrow, Finding: verdict.Finding{Verdict: verdict.Counted}}, "", false, "map-from-empty"},
		{"a variable", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("x", true, "from p = &x (assign)")}, "", false, "moved-variable"},
		{"a literal", &verdict.Site{Kind: heapcalls.Object, Evidence: escape("&T{}", false, "from return &T{} (return)")}, "", false, "new-object"},
	} {
		got := why.Explain(c.site, "", c.statement, c.logCall)
		if got.Pattern != c.want || got.Reason == "" || got.Fix == "" {
			t.Errorf("%s: got %+v, want pattern %s with reason and fix", c.name, got, c.want)
		}
	}
}

func TestReasonOfTheCompiler(t *testing.T) {
	e := &compiler.Escape{What: "x", Moved: true, Stack: []compiler.Position{{File: "/m/f.go", Line: 1}},
		Reasons: []compiler.Step{{Text: "flow: {heap} ← &x:"}, {Text: "from &x (address-of)", At: compiler.Position{File: "/m/f.go", Line: 2}}, {Text: "from kept = &x (assign)", At: compiler.Position{File: "/m/f.go", Line: 2}}}}
	got := why.Explain(&verdict.Site{Kind: heapcalls.Object, Evidence: verdict.Evidence{Escape: e}}, "", "", false)
	if want := "the variable `x` is moved to the heap; `kept = &x` (f.go:2) stores it in something that lives longer"; got.Reason != want {
		t.Errorf("got  %s\nwant %s", got.Reason, want)
	}
}

// A slice of variable size is on the heap because of what is done with it,
// unless the compiler names the size.
func TestReasonOfAMake(t *testing.T) {
	at := compiler.Position{File: "/m/f.go", Line: 3}
	e := &compiler.Escape{
		What: "make([]byte, n)", Stack: []compiler.Position{{File: "/m/f.go", Line: 1}},
		Reasons: []compiler.Step{{Text: "from return b (return)", At: at}},
	}
	site := &verdict.Site{Kind: heapcalls.Make, Evidence: verdict.Evidence{Escape: e}}
	got := why.Explain(site, "", "", false).Reason
	const want = "`make([]byte, n)` is made on the heap; " +
		"it outlives the function through `return b` (f.go:3)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
