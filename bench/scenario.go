// SPDX-License-Identifier: Apache-2.0

package bench

// A Scenario is one row of the comparison.
type Scenario struct {
	Name  string // name in results and for -run
	Title string // name in tables
	Setup func(p *Peer) Setup
	// Want is the line that every peer must print, in canonical form (see
	// check.go), or empty if there must be no line.
	Want string
	// Goroutines is the number of goroutines that log at once. 0 means 1.
	Goroutines int
	// Pipe is set if the lines go into a pipe that another process reads, not to
	// io.Discard.
	Pipe bool
	// Latency is set if every call is also timed separately.
	Latency bool
	// Slog is set if the calls go through a *slog.Logger.
	Slog bool
}

const (
	wantMessage = `{"time":"now","level":"info","message":"request served"}`

	wantFields = `{"time":"now","level":"info","message":"request served",
		"method":"GET","path":"/v1/accounts/7361/orders","request":"01J9Z5T8QXW3M7KD",
		"status":200,"size":18342,"trace":17293822569102704642,"cached":true,"load":0.8731,
		"took":1834512,"started":"2026-03-14T09:26:53Z"}`

	wantAccount = `{"time":"now","level":"info","message":"request served",
		"account":{"id":7361,"name":"Ada Byron","email":"ada@example.org","active":true,
		"balance":1024.5,"tags":["early","annual"],"plan":{"name":"team","seats":12}}}`
)

// Scenarios is the table of scenarios for all contestants.
var Scenarios = []Scenario{
	{Name: "Disabled", Title: "level off, 3 fields", Want: "",
		Setup: func(p *Peer) Setup { return p.Disabled }},
	{Name: "Message", Title: "message only", Latency: true, Want: wantMessage,
		Setup: func(p *Peer) Setup { return p.Message }},
	{Name: "TenFields", Title: "10 fields", Latency: true, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Fields }},
	{Name: "Bound", Title: "10 bound fields", Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Bound }},
	{Name: "Caller", Title: "caller", Want: `{"time":"now","level":"info","message":"request served","caller":"here"}`,
		Setup: func(p *Peer) Setup { return p.Caller }},
	{Name: "Error", Title: "error", Want: `{"time":"now","level":"error","message":"request served",
		"error":"dial tcp 10.4.2.17:5432: connect: connection refused"}`,
		Setup: func(p *Peer) Setup { return p.Error }},
	{Name: "Formatted", Title: "formatted message", Want: `{"time":"now","level":"info",
		"message":"/v1/accounts/7361/orders answered 200"}`,
		Setup: func(p *Peer) Setup { return p.Formatted }},
	{Name: "StructPointer", Title: "struct by pointer", Want: wantAccount,
		Setup: func(p *Peer) Setup { return p.Pointer }},
	{Name: "StructValue", Title: "struct by value", Want: wantAccount,
		Setup: func(p *Peer) Setup { return p.Struct }},
	{Name: "ArrayDict", Title: "array of 10, dictionary of 5", Want: `{"time":"now","level":"info",
		"message":"request served","shards":[3,14,15,92,65,35,89,79,323,846],
		"peer":{"method":"GET","request":"01J9Z5T8QXW3M7KD","status":200,"cached":true,"load":0.8731}}`,
		Setup: func(p *Peer) Setup { return p.Composite }},
	{Name: "Unicode", Title: "non-ASCII text", Want: `{"time":"now","level":"info",
		"message":"注文を受け付けました 🎉","city":"上海市浦东新区","customer":"佐藤 花子さん","mood":"🚀 très bien 👍🏽"}`,
		Setup: func(p *Peer) Setup { return p.Unicode }},
	{Name: "Escapes", Title: "text to escape", Want: `{"time":"now","level":"info",
		"message":"parse error near \"limit\"\nexpected: number","file":"C:\\srv\\app\\conf\\\"prod\".ini",
		"query":"SELECT *\n\tFROM \"orders\"\n\tWHERE note = 'a\\b'","terminal":"\u001b[31mfailed\u001b[0m\r\n"}`,
		Setup: func(p *Peer) Setup { return p.Escapes }},
	{Name: "Attrs", Title: "10 attributes in one call", Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Attrs }},
	{Name: "SlogFront", Title: "slog.Logger, 5 attributes", Slog: true, Want: `{"time":"now","level":"info",
		"message":"request served","method":"GET","path":"/v1/accounts/7361/orders","status":200,
		"took":1834512,"cached":true}`,
		Setup: func(p *Peer) Setup { return p.SlogFront }},
	{Name: "Bare", Title: "message, no time, no level", Want: `{"message":"request served"}`,
		Setup: func(p *Peer) Setup { return p.Bare }},
	{Name: "Parallel2", Title: "10 fields, 2 goroutines", Goroutines: 2, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Fields }},
	{Name: "Pipe1", Title: "10 fields into a pipe", Pipe: true, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Fields }},
	{Name: "Pipe8", Title: "10 fields into a pipe, 8 goroutines", Pipe: true, Goroutines: 8, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Fields }},
	{Name: "Pipe64", Title: "10 fields into a pipe, 64 goroutines", Pipe: true, Goroutines: 64, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Fields }},
	{Name: "BufferedPipe1", Title: "buffered into a pipe", Pipe: true, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Buffered }},
	{Name: "BufferedPipe8", Title: "buffered into a pipe, 8 goroutines", Pipe: true, Goroutines: 8, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Buffered }},
	{Name: "BufferedPipe64", Title: "buffered into a pipe, 64 goroutines", Pipe: true, Goroutines: 64, Want: wantFields,
		Setup: func(p *Peer) Setup { return p.Buffered }},
}
