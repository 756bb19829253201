// SPDX-License-Identifier: Apache-2.0

package bench

import "github.com/nib-log/nib/bench/measure"

const (
	wantMessage = `{"time":"now","level":"info","message":"request served"}`

	wantFields = `{"time":"now","level":"info","message":"request served",
		"method":"GET","path":"/v1/accounts/7361/orders","request":"01J9Z5T8QXW3M7KD",
		"status":200,"size":18342,"trace":17293822569102704642,"cached":true,"load":0.8731,
		"took":1834512,"started":"2026-03-14T09:26:53Z"}`
)

// rows has the scenarios, and the line that each peer must print, in canonical
// form (see check.go), or nothing.
var rows = []struct {
	scenario measure.Scenario
	row      string // of Peer.Rows, if it is not the name
	want     string
}{
	{measure.Scenario{Name: "Disabled", Title: "level off, 3 fields"}, "", ""},
	{measure.Scenario{Name: "Message", Title: "message only", Latency: true}, "", wantMessage},
	{measure.Scenario{Name: "TenFields", Title: "10 fields", Latency: true}, "", wantFields},
	{measure.Scenario{Name: "Bound", Title: "10 bound fields"}, "", wantFields},
	{measure.Scenario{Name: "Caller", Title: "caller"}, "",
		`{"time":"now","level":"info","message":"request served","caller":"here"}`},
	{measure.Scenario{Name: "Error", Title: "error"}, "",
		`{"time":"now","level":"error","message":"request served",
		"error":"dial tcp 10.4.2.17:5432: connect: connection refused"}`},
	{measure.Scenario{Name: "Formatted", Title: "formatted message"}, "",
		`{"time":"now","level":"info","message":"/v1/accounts/7361/orders answered 200"}`},
	{measure.Scenario{Name: "StructValue", Title: "struct by value"}, "",
		`{"time":"now","level":"info","message":"request served",
		"account":{"id":7361,"name":"Ada Byron","email":"ada@example.org","active":true,
		"balance":1024.5,"tags":["early","annual"],"plan":{"name":"team","seats":12}}}`},
	{measure.Scenario{Name: "ArrayDict", Title: "array of 10, dictionary of 5"}, "",
		`{"time":"now","level":"info","message":"request served",
		"shards":[3,14,15,92,65,35,89,79,323,846],
		"peer":{"method":"GET","request":"01J9Z5T8QXW3M7KD","status":200,"cached":true,"load":0.8731}}`},
	{measure.Scenario{Name: "Unicode", Title: "non-ASCII text"}, "",
		`{"time":"now","level":"info","message":"注文を受け付けました 🎉",
		"city":"上海市浦东新区","customer":"佐藤 花子さん","mood":"🚀 très bien 👍🏽"}`},
	{measure.Scenario{Name: "Escapes", Title: "text to escape"}, "",
		`{"time":"now","level":"info","message":"parse error near \"limit\"\nexpected: number",
		"conf":"C:\\srv\\app\\conf\\\"prod\".ini",
		"query":"SELECT *\n\tFROM \"orders\"\n\tWHERE note = 'a\\b'",
		"terminal":"\u001b[31mfailed\u001b[0m\r\n"}`},
	{measure.Scenario{Name: "Attrs", Title: "10 attributes in one call"}, "", wantFields},
	{measure.Scenario{Name: "SlogFront", Title: "slog.Logger, 5 attributes"}, "",
		`{"time":"now","level":"info","message":"request served","method":"GET",
		"path":"/v1/accounts/7361/orders","status":200,"took":1834512,"cached":true}`},
	{measure.Scenario{Name: "Bare", Title: "message, no time, no level"}, "",
		`{"message":"request served"}`},
	{measure.Scenario{Name: "Parallel2", Title: "10 fields, 2 goroutines", Goroutines: 2},
		"TenFields", wantFields},
	{measure.Scenario{Name: "Pipe1", Title: "10 fields into a pipe", Pipe: true, Ops: piped},
		"TenFields", wantFields},
	{measure.Scenario{Name: "Pipe8", Title: "10 fields into a pipe, 8 goroutines", Pipe: true,
		Ops: piped, Goroutines: 8}, "TenFields", wantFields},
	{measure.Scenario{Name: "BufferedPipe1", Title: "buffered into a pipe", Pipe: true, Ops: piped},
		"Buffered", wantFields},
}

// piped is how many lines each contestant writes into a pipe in a round: many
// times the capacity of the pipe.
const piped = 8000

// Set returns the set of log calls.
func Set() measure.Set {
	s := measure.Set{Name: "calls", Path: "docs/benchmarks.md",
		Note: "*seed* is no library: it copies a message into a pooled buffer and writes it, " +
			"without " +
			"escaping. A star marks a line that differs from the others, which are not compared with it."}
	for _, p := range Peers() {
		if p.Module != "" {
			s.Modules = append(s.Modules, measure.Module{Name: p.Name, Path: p.Module})
		}
	}
	table := measure.Table{Title: "Time of one call, ns"}
	for _, r := range rows {
		x := r.scenario
		row := r.row
		if row == "" {
			row = x.Name
		}
		for _, p := range Peers() {
			if setup := p.Rows[row]; setup != nil {
				x.Contestants = append(x.Contestants, measure.Contestant{Name: p.Name,
					Aside: exceptedKeys(x.Name, p.Name)[""], New: setup})
			}
		}
		x.Same = func(c *measure.Contestant, text []byte) error {
			return compare(r.want, x.Name, PeerOf(c.Name), text)
		}
		table.Scenarios = append(table.Scenarios, x)
	}
	s.Tables = []measure.Table{table}
	return s
}

// SameFields returns an error if text is not the line of ten fields of a peer.
func SameFields(peer string, text []byte) error {
	return compare(wantFields, "TenFields", PeerOf(peer), text)
}
