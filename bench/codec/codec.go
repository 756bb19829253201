// SPDX-License-Identifier: Apache-2.0

// Package codec compares nib's encoding of structs and maps with other JSON
// encoders, its typed lines with its own calls, and its formatter for logrus
// with logrus's and with one that is written by hand. Scenarios is the table of
// all contests; each file holds the contestants of one kind. cmd/nibbench runs
// them.
//
// Every contestant has its own loop over its own calls: a common loop over an
// interface would add the same time to each and so hide a part of the
// difference.
package codec

import "io"

// Names of the contestants. The part after a hyphen is the way in which it is
// used.
const (
	Nib       = "nib"
	StdJSON   = "encoding/json"
	Iterator  = "json-iterator"
	GoJSON    = "go-json"
	Sonic     = "sonic"
	Segmentio = "segmentio"

	NibStruct = "nib-struct" // the content of the map, as a struct

	NibLine   = "nib-line"
	NibInline = "nib-inline"
	NibChain  = "nib-chain"

	Logrus    = "logrus"
	ByMap     = "by-hand-map"
	ByStruct  = "by-hand-struct"
	NibFixed  = "nib-fixed-format"
	Installed = "nib-installed"
	Nothing   = "logrus-formats-nothing"
)

// titles are the names in tables, where they differ.
var titles = map[string]string{
	GoJSON: "goccy/go-json", Sonic: "bytedance/sonic", Segmentio: "segmentio/encoding",
	NibStruct: "nib, the same as a struct", NibLine: "nib, typed line", NibInline: "nib, Inline", NibChain: "nib, a call for each field",
	Logrus: "logrus.JSONFormatter", ByMap: "by hand: a map, json-iterator", ByStruct: "by hand: a struct, json-iterator",
	NibFixed: "nib, fixed format", Installed: "nib, Install", Nothing: "logrus, formatting nothing",
}

// Title returns the name of a contestant in tables.
func Title(name string) string {
	if title, ok := titles[name]; ok {
		return title
	}
	return name
}

// Modules are the paths of the contestants that are modules.
var Modules = []struct{ Name, Path string }{
	{Iterator, "github.com/json-iterator/go"},
	{GoJSON, "github.com/goccy/go-json"},
	{Sonic, "github.com/bytedance/sonic"},
	{Segmentio, "github.com/segmentio/encoding"},
	{Logrus, "github.com/sirupsen/logrus"},
}

// A Scenario is one contest.
type Scenario struct {
	Name        string // name in results and for -run
	Title       string // name in tables
	Versus      string // the contestant that ratios refer to; if empty, the fastest that is not nib's
	Want        string // the JSON that all contestants must write
	Contestants []Contestant
}

// A Contestant is one way to perform the operation of the scenario.
type Contestant struct {
	Name string
	// New prepares the contestant, and returns a function that performs n
	// operations. Encoders write the text of the last one to w; loggers write
	// each.
	New func(w io.Writer) func(n int)
	// Want, if not empty, is the JSON that this contestant must write: the formats
	// of logrus and of the handwritten formatters differ.
	Want string
}

// Scenarios lists all contests in the order in which they run.
func Scenarios() []Scenario {
	var all []Scenario
	all = append(all, encoders()...)
	all = append(all, lines())
	all = append(all, formats()...)
	return all
}

// Own reports whether a contestant is nib's.
func Own(name string) bool {
	switch name {
	case Nib, NibStruct, NibLine, NibInline, NibChain, NibFixed, Installed:
		return true
	}
	return false
}

// A Limit is the maximum time of a contestant, as a multiple of that of another
// one, which may be in another scenario. The tables show whether it is met.
type Limit struct {
	Scenario, Contestant string
	In, Versus           string // In "" is the same scenario; Versus "" as in Scenario
	Most                 float64
}

// Limits are the limits that nib sets for itself.
var Limits = []Limit{
	{"JSONStruct", Nib, "", "", 0.6},
	{"JSONMap", Nib, "", "", 0.7},
	{"JSONMap", Nib, "JSONStruct", Nib, 2},
	{"TypedLine", NibLine, "", NibChain, 0.8},
	{"Format", Nib, "", Logrus, 0.2},
	{"Format", NibFixed, "", Logrus, 0.2},
	{"Format", Nib, "", ByStruct, 0.5},
	{"Format", NibFixed, "", ByStruct, 0.5},
}
