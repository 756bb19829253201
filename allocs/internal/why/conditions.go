// SPDX-License-Identifier: Apache-2.0

package why

import (
	"regexp"
	"strings"

	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

var (
	putAddress = regexp.MustCompile(`\.Put\(&`)
	// constantMake is the compiler's text of a make whose sizes are numbers.
	constantMake = regexp.MustCompile(`^make\(.*?(, \d+)+\)$`)
	// cutToLength is an append to a slice expression with a capacity.
	cutToLength = regexp.MustCompile(`\bappend\([^,]*\[[^\[\]]*:[^\[\]]*:[^\[\]]*\],`)
	slogCall    = regexp.MustCompile(`\b((Debug|Info|Warn|Error)(Context)?|Log)\(`)
	slogAttr    = regexp.MustCompile(
		`slog\.(Int|String|Any|Bool|Duration|Time|Float64|Uint64|Group)`)
)

// conditions are what must hold for a pattern besides its kinds and functions,
// by its name.
var conditions = map[string]func(q query) bool{
	"pool-put-value": func(q query) bool { return q.has(".Put(") },
	"pool-put-address": func(q query) bool {
		return putAddress.MatchString(q.statement) ||
			q.flows("(*sync.Pool).Put(") && (q.has(".Get().(") || q.moved())
	},
	"slog-attrs-boxed": func(q query) bool {
		return slogBoxes(q) && (slogAttr.MatchString(q.statement) || slogAttr.MatchString(q.line))
	},
	"slog-pairs": slogBoxes,
	"hash-per-call": func(q query) bool {
		return strings.HasSuffix(q.Callee, ".Sum") || strings.Contains(q.Callee, ".New")
	},
	"sort-slice": func(q query) bool {
		return !q.boxed() || q.has("sort.Slice(", "sort.SliceStable(")
	},
	"boxed-before-level-check": func(q query) bool { return q.logCall },
	"variadic-slice":           func(q query) bool { return q.what == "... argument" },
	"stack-array-to-interface": func(q query) bool {
		return q.moved() && q.flows("[:") &&
			strings.Contains(last(q.Evidence.Escape).Text, "(call parameter)")
	},
	"too-large": func(q query) bool { return q.flows("too large for stack") },
	"method-value-kept": func(q query) bool {
		return q.Evidence.Escape != nil && !q.moved() &&
			!strings.ContainsAny(q.what, " &({") && strings.Contains(q.what, ".")
	},
	"go-statement": func(q query) bool {
		return q.Kind == heapcalls.Goroutine || strings.HasPrefix(q.statement, "go ") ||
			strings.HasPrefix(q.line, "go ")
	},
	"closure-kept":  func(q query) bool { return strings.HasPrefix(q.what, "func literal") },
	"make-per-call": func(q query) bool { return constantMake.MatchString(q.what) || q.escapes() },
	"append-past-capacity": func(q query) bool {
		return cutToLength.MatchString(q.what) || q.what == "" && cutToLength.MatchString(q.line)
	},
	"append-from-empty": func(q query) bool { return q.Verdict == verdict.Counted },
	"map-from-empty":    func(q query) bool { return q.Verdict == verdict.Counted },
	"moved-variable":    func(q query) bool { return q.moved() },
	"constructor":       constructs,
}

// slogBoxes reports whether a call of slog boxes its arguments.
func slogBoxes(q query) bool {
	return (q.boxed() || q.what == "... argument") && slogCall.MatchString(q.statement) &&
		q.flows("slog.") && !q.has("LogAttrs(")
}

// constructs reports whether the callee returns a new object: the last resort,
// when no function below it is known either.
func constructs(q query) bool {
	name := ShortName(q.Callee)
	return q.deep && strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "New")
}
