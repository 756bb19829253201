// SPDX-License-Identifier: Apache-2.0

package why

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Pattern is an entry of the catalogue.
type Pattern struct {
	Name   string
	Reason string // replaces the general reason; "" keeps it
	Fix    string
	match  func(q query) bool
}

// query is the input of patterns.
type query struct {
	*verdict.Site
	what      string
	line      string
	statement string
	logCall   bool
	deep      bool // also match functions that the callee calls
}

// moved reports whether a variable moves to the heap.
func (q query) moved() bool { return q.Evidence.Escape != nil && q.Evidence.Escape.Moved }

// escapes reports whether the compiler keeps a slice off the stack for another
// reason than its size.
func (q query) escapes() bool {
	if q.Evidence.Escape == nil {
		return false
	}
	_, how := split(last(q.Evidence.Escape).Text)
	return how != "" && how != "non-constant size"
}

func (q query) boxed() bool { return q.Kind == heapcalls.Box || q.Kind == heapcalls.BoxSmall }

// calls reports whether the site is inside one of the functions.
func (q query) calls(names ...string) bool {
	if q.Kind != heapcalls.Inside {
		return false
	}
	for _, n := range names {
		if matches(n, q.Callee) {
			return true
		}
	}
	if !q.deep {
		return false
	}
	// Functions that the line calls may be inlined: also match the functions
	// between the line and the allocation.
	stacks := [][]binary.Frame{q.Stack}
	for _, p := range q.Places {
		stacks = append(stacks, p.Stack)
	}
	for _, stack := range stacks {
		for _, f := range stack {
			if binary.Normalise(f.Func) == q.Func {
				break
			}
			if slices.Contains(names, f.Func) {
				return true
			}
		}
	}
	return false
}

// matches compares a name with a pattern that may have one asterisk, besides
// those of receivers.
func matches(pattern, name string) bool {
	i := strings.LastIndexByte(pattern, '*')
	if i < 0 || i > 0 && pattern[i-1] == '(' {
		return name == pattern
	}
	start, end := pattern[:i], pattern[i+1:]
	return len(name) >= len(start)+len(end) && strings.HasPrefix(name, start) && strings.HasSuffix(name, end)
}

func (q query) has(parts ...string) bool {
	for _, p := range parts {
		// The innermost statement of the line can be in a function literal.
		if strings.Contains(q.statement, p) || strings.Contains(q.line, p) {
			return true
		}
	}
	return false
}

var (
	putAddress = regexp.MustCompile(`\.Put\(&`)
	// constantMake is the compiler's text of a make whose sizes are numbers.
	constantMake = regexp.MustCompile(`^make\(.*?(, \d+)+\)$`)
	// cutToLength is an append to a slice expression with a capacity.
	cutToLength = regexp.MustCompile(`\bappend\([^,]*\[[^\[\]]*:[^\[\]]*:[^\[\]]*\],`)
	slogPairs   = regexp.MustCompile(`\b(Debug|Info|Warn|Error|DebugContext|InfoContext|WarnContext|ErrorContext|Log)\(`)
)

// catalogue is searched from the top, so special patterns come first.
var catalogue = slices.Concat(special, libraryPatterns, patterns)

// special lists patterns of a few functions whose use is easy to fix.
var special = []Pattern{
	{"pool-put-value", "a value that is not a pointer is copied to the heap to be stored in the pool, on every Put",
		"keep pointers in the pool: Put(p) with the *T that Get returned",
		func(q query) bool { return q.boxed() && q.has(".Put(") }},
	{"pool-put-address", "a new variable goes to the heap on every Put(&x), which is what the pool was to save",
		"keep the pointer that Get returned: p := pool.Get().(*T); *p = …; pool.Put(p)",
		func(q query) bool {
			return q.Kind == heapcalls.Object && (putAddress.MatchString(q.statement) || q.flows("(*sync.Pool).Put(") && (q.has(".Get().(") || q.moved()))
		}},
	{"slog-sixth-attribute", "a slog record holds five attributes in itself; from the sixth on it makes a slice",
		"log at most five attributes, bind the constant ones once with Logger.With, or put some into a group",
		func(q query) bool { return q.calls("log/slog.(*Record).AddAttrs", "log/slog.(*Record).Add") }},
	{"slog-attrs-boxed", "each slog.Attr is boxed to be passed as any, before slog looks at the level",
		"use LogAttrs, which takes the attributes as they are: it boxes nothing, also when the level is off",
		func(q query) bool {
			return (q.boxed() || q.what == "... argument") && slogPairs.MatchString(q.statement) && q.flows("slog.") && q.has("slog.Int", "slog.String", "slog.Any", "slog.Bool", "slog.Duration", "slog.Time", "slog.Float64", "slog.Uint64", "slog.Group") && !q.has("LogAttrs(")
		}},
	{"slog-pairs", "key and value pairs are boxed into a slice of any before slog looks at the level",
		"use LogAttrs with slog.Int, slog.String and so on: it boxes nothing, also when the level is off",
		func(q query) bool {
			return (q.boxed() || q.what == "... argument") && slogPairs.MatchString(q.statement) && q.flows("slog.") && !q.has("LogAttrs(")
		}},
}

// patterns lists patterns of code and of widely used functions.
var patterns = []Pattern{
	{"boxed-before-level-check", "the argument is boxed where the log call is written, before the logger looks at the level: it allocates even when the event is dropped",
		"use the typed method (Int, Str, …) instead of Any or Interface, or guard the call with Enabled",
		func(q query) bool { return q.boxed() && q.logCall }},
	{"variadic-slice", "the arguments of a variadic call are put into a slice on the heap",
		"take a fixed number of arguments, or let the callee be a concrete function that the compiler can see does not keep them",
		func(q query) bool { return q.Kind == heapcalls.Object && q.what == "... argument" }},
	{"stack-array-to-interface", "an array or buffer of the function moves to the heap, as it is passed to an interface method",
		"take the buffer from a pool or from the receiver, or call the concrete type",
		func(q query) bool {
			return q.moved() && q.flows("[:") && strings.Contains(last(q.Evidence.Escape).Text, "(call parameter)")
		}},
	{"too-large", "",
		"keep it in a pool or in what the function works on, or make it smaller: the compiler puts variables of up to 128 KiB on the stack, and slices and new objects of up to 64 KiB",
		func(q query) bool { return q.flows("too large for stack") }},
	{"boxed-argument", "", "pass a pointer, use a typed or generic function, or switch over concrete types in the callee without storing the value",
		func(q query) bool { return q.boxed() }},
	{"method-value-kept", "a method value is an object with the receiver in it",
		"bind it once and keep it, or pass the receiver and call the method there",
		func(q query) bool {
			return q.Kind == heapcalls.Object && q.Evidence.Escape != nil && !q.moved() && !strings.ContainsAny(q.what, " &({") && strings.Contains(q.what, ".")
		}},
	{"go-statement", "starting a goroutine makes an object for its function and arguments",
		"start workers once and send them work over a channel",
		func(q query) bool {
			return q.Kind == heapcalls.Goroutine || q.Kind == heapcalls.Object && (strings.HasPrefix(q.statement, "go ") || strings.HasPrefix(q.line, "go "))
		}},
	{"closure-kept", "a function literal that outlives the function is an object with the variables it uses",
		"make it once, or pass what it needs as arguments and keep it on the stack",
		func(q query) bool { return q.Kind == heapcalls.Object && strings.HasPrefix(q.what, "func literal") }},
	{"load-location", "time.LoadLocation reads and parses the time zone file each time",
		"load it once, into a package variable; sync.OnceValues would keep a first error for good",
		func(q query) bool { return q.calls("time.LoadLocation") }},
	{"time-format", "Time.Format makes a string",
		"use AppendFormat with a buffer that is kept",
		func(q query) bool { return q.calls("time.Time.Format", "time.Time.String", "time.Time.GoString") }},
	{"time-after", "a timer with its channel is made",
		"make one time.Timer and Reset it",
		func(q query) bool {
			return q.calls("time.After", "time.NewTimer", "time.NewTicker", "time.Tick", "time.AfterFunc")
		}},
	{"errorf", "an error with its text is made each time",
		"return an error that was made once (errors.New in a package variable), or wrap only where it is handled",
		func(q query) bool { return q.calls("fmt.Errorf", "errors.New", "errors.Join") }},
	{"sprintf", "fmt formats into a new string and boxes its arguments",
		"append to a kept buffer with strconv.AppendInt and append",
		func(q query) bool { return q.calls("fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln") }},
	{"fmt-formats", "fmt formats through a printer from its pool, and by reflection what is no basic type",
		"append to a kept buffer with strconv.AppendInt and append",
		func(q query) bool { return q.calls("fmt.*") }},
	{"strconv-string", "the number becomes a new string",
		"use the Append function of strconv with a kept buffer",
		func(q query) bool { return q.calls("strconv.Itoa", "strconv.Format*", "strconv.Quote*") }},
	{"runtime-caller", "runtime.Caller looks the frame up and keeps it in new slices and strings",
		"use runtime.Callers with an array of the function, and keep the frame by its PC",
		func(q query) bool {
			return q.calls("runtime.Caller", "runtime.CallersFrames", "runtime.(*Frames).Next", "runtime.FuncForPC")
		}},
	{"stack-text", "the stack trace is written into a new slice",
		"take it only for errors, into a buffer that is kept",
		func(q query) bool { return q.calls("runtime/debug.Stack", "runtime.Stack") }},
	{"context-value", "the new context is an object",
		"set the values once where the request begins; pass what is hot as an argument",
		func(q query) bool { return q.calls("context.WithValue", "context.With*") }},
	{"json", "encoding/json works by reflection and makes the result and what it needs on the way",
		"append the fields to a kept buffer, or use an encoder that is kept",
		func(q query) bool { return q.calls("encoding/json.*") }},
	{"buffer-grows", "the buffer grows",
		"give it the room once (Grow), keep it and Reset it",
		func(q query) bool { return q.calls("bytes.(*Buffer).*", "bufio.(*Writer).*", "bufio.(*Reader).*") }},
	{"read-all", "everything is read into a slice that grows",
		"read into a buffer that is kept",
		func(q query) bool { return q.calls("io.ReadAll", "os.ReadFile", "io.Copy", "io.copyBuffer") }},
	{"regexp-compile", "the expression is compiled each time",
		"compile it once, into a package variable",
		func(q query) bool { return q.calls("regexp.MustCompile", "regexp.Compile", "regexp.MatchString") }},
	{"regexp", "the matcher takes a machine and returns new slices",
		"for fixed forms use strings or bytes functions; MatchString allocates least",
		func(q query) bool { return q.calls("regexp.*") }},
	{"reflection", "reflection copies values to the heap",
		"switch over the types that are common before reflecting",
		func(q query) bool { return q.Kind == heapcalls.Reflect || q.calls("reflect.*") }},
	{"pool-miss", "the pool has nothing kept and makes a new value",
		"warm the pool up; a collection empties it in two cycles",
		func(q query) bool { return q.calls("sync.(*Pool).Get", "sync.(*Pool).Put") }},
	{"string-of-bytes", "the bytes are copied into a new string",
		"keep []byte to the end; comparing, map lookup and range over string(b) do not copy",
		func(q query) bool { return q.Kind == heapcalls.ToString }},
	{"bytes-of-string", "the string is copied into a new []byte",
		"append(buf, s...) and io.WriteString need no copy",
		func(q query) bool { return q.Kind == heapcalls.ToBytes }},
	{"concat", "",
		"append the parts to a kept buffer",
		func(q query) bool { return q.Kind == heapcalls.Concat }},
	{"make-per-call", "",
		"keep the slice and cut it with [:0], or let the caller give it",
		func(q query) bool {
			return q.Kind == heapcalls.Make && (constantMake.MatchString(q.what) || q.escapes())
		}},
	{"make-variable", "the size is not known when compiling, so the slice is made on the heap (Go 1.25 and later: above 32 bytes)",
		"make it with a constant size, or keep the slice and cut it with [:0]",
		func(q query) bool { return q.Kind == heapcalls.Make }},
	{"append-out", "",
		"let the caller give the slice to append to",
		func(q query) bool { return q.Kind == heapcalls.Move }},
	{"append-past-capacity", "the slice is cut to its length, so append always copies it to a larger array",
		"append to a slice with room that is kept, and cut it with [:0]",
		func(q query) bool {
			return q.Kind == heapcalls.Grow && (cutToLength.MatchString(q.what) || q.what == "" && cutToLength.MatchString(q.line))
		}},
	{"append-from-empty", "the slice starts empty in each call, so append makes an array and then larger ones",
		"make it with the capacity that is needed, or keep it and cut it with [:0]",
		func(q query) bool { return q.Kind == heapcalls.Grow && q.Verdict == verdict.Counted }},
	{"append-grows", "append makes a larger array when the slice is full; a slice that is kept stops growing",
		"keep the slice between calls and cut it with [:0]",
		func(q query) bool { return q.Kind == heapcalls.Grow }},
	{"map-per-call", "a map is made in each call",
		"keep the map and clear() it, or use a slice for a few keys",
		func(q query) bool {
			return q.Kind == heapcalls.Map
		}},
	{"map-from-empty", "the map is empty at first in each call, and takes memory as keys are added",
		"keep the map and clear() it, or give make the number of keys",
		func(q query) bool { return q.Kind == heapcalls.MapGrow && q.Verdict == verdict.Counted }},
	{"map-insert", "the map takes memory for new keys; one that is kept stops growing",
		"give make the number of keys",
		func(q query) bool { return q.Kind == heapcalls.MapGrow }},
	{"chan-per-call", "", "make the channel once",
		func(q query) bool { return q.Kind == heapcalls.Chan }},
	{"defer-in-loop", "", "put the body of the loop into a function of its own",
		func(q query) bool { return q.Kind == heapcalls.Defer }},
	{"moved-variable", "",
		"return the value, or let the caller give the pointer",
		func(q query) bool {
			return q.Kind == heapcalls.Object && q.moved()
		}},
	{"new-object", "",
		"return the value instead of a pointer, let the caller give the memory, or take it from a pool",
		func(q query) bool { return q.Kind == heapcalls.Object }},
}

// flows reports whether a step of the value's way to the heap has the text.
func (q query) flows(text string) bool {
	if q.Evidence.Escape == nil {
		return false
	}
	for _, s := range q.Evidence.Escape.Reasons {
		if strings.Contains(s.Text, text) {
			return true
		}
	}
	return false
}
