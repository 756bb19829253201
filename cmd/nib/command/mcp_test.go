// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect starts nib mcp and returns a session with it.
func connect(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	server := &mcp.CommandTransport{Command: child(append([]string{"mcp"}, args...)...)}
	session, err := client.Connect(t.Context(), server, nil)
	must(t, err)
	t.Cleanup(func() { must(t, session.Close()) })
	return session
}

// ask calls a tool with arguments in JSON, and returns the texts of its answer.
func ask(t *testing.T, s *mcp.ClientSession, tool, args string) (text []string, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{
		Name: tool, Arguments: json.RawMessage(args),
	})
	must(t, err)
	for _, c := range r.Content {
		text = append(text, c.(*mcp.TextContent).Text)
	}
	return text, r.IsError
}

// An answerCase is a call and its answer. A text that ends with "…" is the
// beginning of one.
type answerCase struct {
	tool, args string // args has the placeholders of mcpLogs
	isError    bool
	want       []string
}

// mcpLogs are the logs of a test: "LOG", "OLD" and "OWN" may be read, "HIDDEN"
// may not.
type mcpLogs struct{ log, old, own, hidden string }

func newMCPLogs(t *testing.T) mcpLogs {
	dir := t.TempDir()
	return mcpLogs{
		log:    store(t, dir, "app.log", first, second, third, fourth, "panic: no log line", ""),
		old:    store(t, dir, "old.log", first, first, second, ""),
		own:    store(t, dir, "own.log", `{"message":"left","what":"right"}`, ""),
		hidden: store(t, t.TempDir(), "hidden.log", fourth, ""),
	}
}

func (m mcpLogs) check(t *testing.T, cases []answerCase) {
	t.Helper()
	pattern := filepath.Join(filepath.Dir(m.log), "o*.log")
	s := connect(t, "--keys", "message=what", m.log, pattern)
	names := strings.NewReplacer("LOG", quoted(m.log), "OLD", quoted(m.old), "OWN", quoted(m.own),
		"HIDDEN", quoted(m.hidden))
	for _, c := range cases {
		got, isError := ask(t, s, c.tool, names.Replace(c.args))
		same := len(got) == len(c.want) && isError == c.isError
		for i := range got {
			if same {
				head, isHead := strings.CutSuffix(c.want[i], "…")
				same = got[i] == c.want[i] || isHead && strings.HasPrefix(got[i], head)
			}
		}
		if !same {
			t.Errorf("%s %s: got %v, %q, want %q", c.tool, c.args, isError, got, c.want)
		}
	}
}

// quoted returns a text as JSON.
func quoted(text string) string {
	raw, _ := json.Marshal(text) // a string has no error
	return string(raw)
}

func TestMCPTools(t *testing.T) {
	lines := func(lines ...string) string { return strings.Join(append(lines, ""), "\n") }
	const foreign = "nib: 1 lines that are not of a log were left out\n"
	newMCPLogs(t).check(t, []answerCase{
		{"search", `{"files":[LOG],"level":"warn","lines":2}`, false, []string{
			lines(third, fourth), foreign + "nib: 1 of 3 selected lines were left out\n",
		}},
		{"search", `{"files":[LOG],"level":"warn","lines":2,"oldest":true}`, false, []string{
			lines(second, third), foreign + "nib: 1 of 3 selected lines were left out\n",
		}},
		{"search", `{"query":"took > 200ms","files":[LOG,OLD]}`, false, []string{
			lines(second, second, fourth), foreign,
		}},
		{"search", `{"files":[LOG],"query":"exists path","fields":["path"]}`, false, []string{
			lines(`{"path":"/api/a"}`, `{"path":"/api/b"}`), foreign,
		}},
		{"search", `{"files":[OWN],"query":"message = right"}`, false, []string{
			lines(`{"message":"left","what":"right"}`),
		}},
		{"search", `{"files":[OLD],"since":"2026-11-21"}`, false, []string{
			"nib: no line is selected\n",
		}},
		{"stat", `{"files":[LOG],"by":["path"],"top":1}`, false, []string{
			`{"first":"2026-11-20T10:00:00Z","groups":[{"fields":{"path":"-"},"lines":3,…`,
		}},
		{"compare", `{"files":[LOG],"against":OLD,"level":"info"}`, false, []string{
			`{"against":{"changed":{"left_out":0,"messages":[]},"first":…`, foreign,
		}},
		{"compare", `{"files":[OLD],"against":"-9h..-8h"}`, false, []string{`{"against":{…`}},
		{"context", `{"files":[LOG],"text":"10:00:01","lines":1}`, false, []string{
			lines(first, second, third),
		}},
		{"context", `{"files":[LOG],"text":"\"zap failed\""}`, false, []string{
			lines(first, second, third, fourth, "panic: no log line"),
		}},
	})
}

// Errors have the text that the verb has, and no other file is read.
func TestMCPErrors(t *testing.T) {
	m := newMCPLogs(t)
	_, _, badQuery := run("cat", "-q", "level >= loud", m.log)
	_, _, badLevel := run("stat", "-l", "loud", m.log)
	_, _, noRange := run("stat", "--against", "soon..later", m.log)
	refused := func(name string) []string {
		return []string{fmt.Sprintf("nib: %s may not be read; the logs of this server are %s, %s",
			name, m.log, filepath.Join(filepath.Dir(m.log), "o*.log"))}
	}
	size := []string{"nib: max_bytes must be from 1000 to 32000"}
	m.check(t, []answerCase{
		{"search", `{"files":[LOG],"query":"level >= loud"}`, true, []string{badQuery}},
		{"stat", `{"files":[LOG],"level":"loud"}`, true, []string{badLevel}},
		{"compare", `{"files":[LOG],"against":"soon..later"}`, true, []string{noRange}},
		{"search", `{"files":[HIDDEN]}`, true, refused(m.hidden)},
		{"stat", `{"files":[LOG,"-"]}`, true, refused("-")},
		{"compare", `{"files":[LOG],"against":HIDDEN}`, true, refused(m.hidden)},
		{"compare", `{"files":[LOG],"against":"/dev/../dev/null"}`, true, refused("/dev/../dev/null")},
		{"context", `{"files":["--no-index"],"text":"a"}`, true, refused("--no-index")},
		{"search", `{"max_bytes":999}`, true, size},
		{"search", `{"max_bytes":32001}`, true, size},
		{"search", `{"lines":-1}`, true, []string{`nib: invalid argument "-1" for "-n, --lines"…`}},
		{"search", `{"file":"a"}`, true, []string{`validating "arguments": …`}},
		{"context", `{}`, true, []string{`validating "arguments": …`}},
	})
}

// An answer has at most the number of bytes that the call asks for, and counts
// the rest.
func TestMCPAnswersAreBounded(t *testing.T) {
	dir := t.TempDir()
	log := store(t, dir, "app.log", history()...)
	log2 := store(t, dir, "wide.log", `{"message":"`+strings.Repeat("w", 5000)+`"}`, "")
	s := connect(t, log, log2, "--utc")
	for _, c := range []struct{ tool, args, left string }{
		{"search", `{}`, " of 7,717 selected lines were left out\n"},
		{"search", `{"query":"message contains www"}`, "1 of 1 selected lines were left out\n"},
		{"stat", `{"by":["message"]}`, `"groups_left_out":77`},
		{"compare", `{"since":"2026-11-20 11:00","against":"2026-11-20 10:00..2026-11-20 11:00"}`,
			`"left_out":`},
		{"context", `{"text":"payment"}`, " selected lines were left out\n"},
		{"context", `{"text":"cache filled 0","lines":100}`, "1 of 1 selected lines were left out\n"},
		{"search", `{"query":"` + strings.Repeat("not ", 3000) + `"}`, "…"},
	} {
		for _, limit := range []int{0, 1000, 32_000} {
			args := c.args
			if limit != 0 {
				args = strings.Replace(args, "{", fmt.Sprintf(`{"max_bytes":%d,`, limit), 1)
				args = strings.Replace(args, ",}", "}", 1)
			} else {
				limit = 4000
			}
			got, _ := ask(t, s, c.tool, args)
			text := strings.Join(got, "")
			if len(text) > limit || limit <= 4000 && !strings.Contains(text, c.left) {
				t.Errorf("%s %.99s: got %d bytes, %.999s", c.tool, args, len(text), text)
			}
		}
	}
	tools, err := s.ListTools(t.Context(), nil)
	must(t, err)
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not marked as read-only", tool.Name)
		}
	}
	if text := s.InitializeResult().Instructions; !strings.Contains(text, log+", "+log2) {
		t.Errorf("the instructions do not name the logs: %s", text)
	}
}

// A client may write all requests, close standard input, and then read.
func TestMCPAnswersWhatIsBeforeTheEnd(t *testing.T) {
	const calls = 20
	in := `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":` +
		`"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	want := map[string]bool{`"first"`: true}
	for i := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":`+
			`{"name":"stat","arguments":{}}}`+"\n", i)
		want[fmt.Sprint(i)] = true
	}
	c := child("mcp", store(t, t.TempDir(), "app.log", first, ""))
	c.Stdin = strings.NewReader(in)
	out, err := c.Output()
	must(t, err)
	for line := range strings.Lines(string(out)) {
		var r struct {
			ID     json.RawMessage
			Result json.RawMessage
		}
		must(t, json.Unmarshal([]byte(line), &r))
		if !want[string(r.ID)] || r.Result == nil {
			t.Errorf("got %s", line)
		}
		delete(want, string(r.ID))
	}
	if len(want) > 0 {
		t.Errorf("%d of %d requests have no answer", len(want), calls+1)
	}
}

func TestMCPNeedsFiles(t *testing.T) {
	for _, args := range [][]string{
		{"mcp"}, {"mcp", "-"}, {"mcp", "a.log", "-"}, {"mcp", "--keys", "when", "a.log"},
	} {
		if code, _, stderr := run(args...); code != 2 || stderr == "" {
			t.Errorf("%q: got %d and %s", args, code, stderr)
		}
	}
}
