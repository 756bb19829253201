// SPDX-License-Identifier: Apache-2.0

package why

import (
	"strings"

	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// libraryPatterns lists functions of the standard library that allocate their
// result or their state.
var libraryPatterns = []Pattern{
	{"iter-pull", "iter.Pull starts a coroutine, with an object for each thing that it shares with it",
		"range over the function, or let the caller give a callback",
		func(q query) bool { return q.calls("iter.Pull*") }},
	{"slices-copy", "the result is a new slice or map",
		"append to a slice that is kept: append(buf[:0], …) or slices.AppendSeq(buf[:0], …)",
		func(q query) bool {
			return q.calls("slices.Clone*", "slices.Concat*", "slices.Collect*", "slices.Sorted*", "slices.Repeat*", "slices.Grow*", "slices.Insert*",
				"slices.Replace*", "slices.AppendSeq*", "maps.Clone*", "maps.Collect*")
		}},
	{"encoded-string", "the encoded text is a new string",
		"use AppendEncode with a buffer that is kept",
		func(q query) bool {
			return q.calls("encoding/hex.EncodeToString", "encoding/hex.DecodeString", "encoding/hex.Dump", "encoding/base64.(*Encoding).*String", "encoding/base32.(*Encoding).*String")
		}},
	{"binary-reflection", "binary.Read and Write take any value: they box it, and write it through a buffer of their own",
		"use the Append and Put functions of the byte order (binary.BigEndian.AppendUint32, …)",
		func(q query) bool { return q.calls("encoding/binary.Write", "encoding/binary.Read") }},
	{"hash-per-call", "the hash or its sum is a new object",
		"keep the hash and Reset it, and let Sum append to a buffer: h.Sum(buf[:0])",
		func(q query) bool {
			for _, tree := range []string{"crypto/", "hash/"} {
				if q.calls(tree+"*") && (strings.HasSuffix(q.Callee, ".Sum") || strings.Contains(q.Callee, ".New")) {
					return true
				}
			}
			return false
		}},
	{"url-parse", "the parsed URL is a new object",
		"parse it once and keep it, or cut out what is needed with strings.Cut",
		func(q query) bool { return q.calls("net/url.Parse*", "net/url.(*URL).*", "net/url.Values.*") }},
	{"address-string", "the text of the address is a new string",
		"use AppendTo with a buffer that is kept",
		func(q query) bool { return q.calls("net/netip.*", "net.IP.String", "net.(*IPNet).String") }},
	{"header-set", "the header keeps the value in a new slice",
		"keep the slice and assign it: h[key] = values",
		func(q query) bool {
			return q.calls("net/http.Header.Set", "net/http.Header.Add", "net/textproto.MIMEHeader.Set", "net/textproto.MIMEHeader.Add")
		}},
	{"big-number", "numbers of any size are kept in slices",
		"keep the result and its operands, and compute into them",
		func(q query) bool { return q.calls("math/big.*") }},
	{"reader-per-call", "the reader is a new object",
		"keep one and Reset it",
		func(q query) bool { return q.calls("strings.NewReader", "bytes.NewReader", "bytes.NewBuffer*") }},
	{"buffered-per-call", "the reader or writer is made with its buffer",
		"keep it, or take it from a pool, and Reset it",
		func(q query) bool { return q.calls("bufio.New*", "bufio.(*Scanner).*") }},
	{"number-error", "the error of a number that cannot be read is an object with a copy of the text",
		"look at the digits first where such text is common",
		func(q query) bool { return q.calls("strconv.Atoi", "strconv.Parse*") }},
	{"sync-map", "sync.Map keeps each entry in an object of its own",
		"load first and store only what has changed, or use a map with a mutex",
		func(q query) bool { return q.calls("sync.(*Map).*", "internal/sync.(*HashTrieMap[...]).*") }},
	{"pprof-labels", "the set of labels, and the context that holds it, are new objects",
		"make the labels and the context once and set them with pprof.SetGoroutineLabels",
		func(q query) bool {
			return q.calls("runtime/pprof.Do", "runtime/pprof.Labels", "runtime/pprof.WithLabels")
		}},
	{"context-done", "the context makes its channel when Done is first called",
		"ask one context for all of the work, or look at Err",
		func(q query) bool { return q.calls("context.(*cancelCtx).Done", "context.Context.Done") }},
	{"sort-slice", "sort.Slice boxes the slice and makes a swapper by reflection",
		"use slices.SortFunc",
		func(q query) bool {
			return q.calls("sort.Slice", "sort.SliceStable", "internal/reflectlite.Swapper") || q.boxed() && q.has("sort.Slice(", "sort.SliceStable(")
		}},
	{"duration-string", "Duration.String makes a string",
		"log the duration as a number or with a typed method",
		func(q query) bool { return q.calls("time.Duration.String") }},
	{"fmt-scan", "fmt reads through a reader of its own and finds the types by reflection",
		"cut the text with strings.Cut and read the parts with strconv",
		func(q query) bool { return q.calls("fmt.Sscan*", "fmt.Fscan*", "fmt.Scan*", "fmt.(*ss).*") }},
	{"strings-copy", "a new string or slice is made of the parts",
		"append to a kept buffer; compare and cut without copying (strings.EqualFold, strings.Cut)",
		func(q query) bool {
			return q.calls("strings.Join", "strings.Repeat", "strings.Replace*", "strings.To*", "strings.Map", "strings.Split", "strings.SplitN",
				"strings.SplitAfter", "strings.SplitAfterN", "strings.Fields", "strings.FieldsFunc", "strings.Clone", "strings.Title",
				"strings.(*Builder).*", "strings.(*Replacer).*", "bytes.(*Buffer).String", "bytes.Join", "bytes.Repeat", "bytes.Replace*",
				"bytes.To*", "bytes.Map", "bytes.Split", "bytes.SplitN", "bytes.Fields", "bytes.Clone",
				"net/url.QueryEscape", "net/url.PathEscape", "net/url.QueryUnescape", "path.Join", "path/filepath.Join", "path.Clean", "path/filepath.Clean")
		}},
}

// constructor is the last resort: the callee returns a new object.
var constructor = Pattern{"constructor", "",
	"make it once and keep it",
	func(q query) bool {
		name := ShortName(q.Callee)
		return q.Kind == heapcalls.Inside && strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "New")
	}}
