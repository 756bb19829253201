// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nib-log/nib/cmd/nib/logs"
)

// The size of an answer in bytes. An eighth of it is for the counts of what was
// left out, and for errors.
const (
	usualAnswer = 4000
	leastAnswer = 1000
	mostAnswer  = 32_000
	notesShare  = 8
)

// logTools are the tools of nib mcp. Each runs a verb.
type logTools struct {
	logs  []string // the arguments of nib mcp
	flags []string // for each verb
}

// A logRange has the parameters of all tools. Their names and meanings are the
// ones of the flags.
type logRange struct {
	Files    []string `json:"files,omitempty" jsonschema:"the logs to read, of those in the instructions (default: all)"`
	Since    string   `json:"since,omitempty" jsonschema:"only lines from this time on, such as -15m, 14:30 or 2026-11-21T09:30:00Z"`
	Until    string   `json:"until,omitempty" jsonschema:"only lines before this time"`
	MaxBytes int      `json:"max_bytes,omitempty" jsonschema:"the size of the answer: 1000 to 32000 bytes (default: 4000)"`
}

// A lineSelection selects lines of a range.
type lineSelection struct {
	logRange
	Level string `json:"level,omitempty" jsonschema:"only lines of this level and above, such as warn"`
	Query string `json:"query,omitempty" jsonschema:"only lines that this query selects, such as took > 250ms and path ~ \"^/api\""`
}

type searchCall struct {
	lineSelection
	Lines  int      `json:"lines,omitempty" jsonschema:"at most this number of lines"`
	Oldest bool     `json:"oldest,omitempty" jsonschema:"the first lines that fit, not the last ones"`
	Fields []string `json:"fields,omitempty" jsonschema:"only these fields of each line, as JSON"`
}

func (t *logTools) search(
	ctx context.Context, _ *mcp.CallToolRequest, in searchCall,
) (*mcp.CallToolResult, any, error) {
	flags := append(in.flags(), repeated("--fields=", in.Fields)...)
	if len(in.Fields) > 0 {
		flags = append(flags, "--output=json")
	}
	flags = append(flags, "--lines="+strconv.Itoa(in.Lines),
		"--newest="+strconv.FormatBool(!in.Oldest))
	return t.call(ctx, in.logRange, "cat", flags)
}

type statCall struct {
	lineSelection
	By          []string `json:"by,omitempty" jsonschema:"count by the values of these fields (default: level)"`
	Percentiles []string `json:"percentiles,omitempty" jsonschema:"percentiles of these fields"`
	Top         int      `json:"top,omitempty" jsonschema:"this number of groups and messages (default: 10)"`
}

func (in *statCall) flags() []string {
	flags := append(in.lineSelection.flags(), "--json")
	flags = append(flags, repeated("--by=", in.By)...)
	flags = append(flags, repeated("--percentiles=", in.Percentiles)...)
	if in.Top != 0 {
		flags = append(flags, "--top="+strconv.Itoa(in.Top))
	}
	return flags
}

func (t *logTools) stat(
	ctx context.Context, _ *mcp.CallToolRequest, in statCall,
) (*mcp.CallToolResult, any, error) {
	return t.call(ctx, in.logRange, "stat", in.flags())
}

type compareCall struct {
	statCall
	Against string `json:"against" jsonschema:"what to compare with: a time of the same logs, such as -2h..-1h, or one of the logs"`
}

func (t *logTools) compare(
	ctx context.Context, _ *mcp.CallToolRequest, in compareCall,
) (*mcp.CallToolResult, any, error) {
	if _, _, isRange := cutRange(in.Against); !isRange {
		if _, err := t.choose([]string{in.Against}); err != nil {
			return nil, nil, err
		}
	}
	return t.call(ctx, in.logRange, "stat", append(in.flags(), "--against="+in.Against))
}

type contextCall struct {
	logRange
	Text  string `json:"text" jsonschema:"a text in the line, such as an id or its time"`
	Lines int    `json:"lines,omitempty" jsonschema:"this number of lines before and after (default: 3)"`
}

func (t *logTools) context(
	ctx context.Context, _ *mcp.CallToolRequest, in contextCall,
) (*mcp.CallToolResult, any, error) {
	flags := append(in.logRange.flags(), "--around="+in.Text, "--context="+strconv.Itoa(in.Lines))
	return t.call(ctx, in.logRange, "cat", flags)
}

func (in *logRange) flags() []string {
	return []string{"--since=" + in.Since, "--until=" + in.Until}
}

func (in *lineSelection) flags() []string {
	return append(in.logRange.flags(), "--level="+in.Level, "--query="+in.Query)
}

// repeated returns a flag that is given several times.
func repeated(flag string, values []string) (flags []string) {
	for _, v := range values {
		flags = append(flags, flag+v)
	}
	return flags
}

// choose returns the logs of a call, which must be logs of the server.
func (t *logTools) choose(files []string) ([]string, error) {
	if len(files) == 0 {
		return t.logs, nil
	}
	allowed := slices.Clone(t.logs)
	for _, arg := range t.logs {
		found, _ := logs.Expand(arg) // the verb reports the error
		allowed = append(allowed, found...)
	}
	for _, name := range files {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("nib: %s may not be read; the logs of this server are %s",
				name, t.names())
		}
	}
	return files, nil
}

// call runs a verb. Its output and its reports are the answer; with an exit
// code for errors, they are the error.
func (t *logTools) call(
	ctx context.Context, in logRange, verb string, flags []string,
) (*mcp.CallToolResult, any, error) {
	size := in.MaxBytes
	if size == 0 {
		size = usualAnswer
	}
	if size < leastAnswer || size > mostAnswer {
		return nil, nil, fmt.Errorf("nib: max_bytes must be from %d to %d", leastAnswer, mostAnswer)
	}
	files, err := t.choose(in.Files)
	if err != nil {
		return nil, nil, err
	}
	args := slices.Concat([]string{verb}, t.flags, flags,
		[]string{"--max-bytes=" + strconv.Itoa(size-size/notesShare), "--"}, files)
	var out, notes bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &notes)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case code == 1:
		notes.WriteString("nib: no line is selected\n")
	}
	report := notes.String()
	if most := size - out.Len(); len(report) > most {
		report = strings.ToValidUTF8(report[:most-len("…")], "") + "…"
	}
	result := &mcp.CallToolResult{IsError: code > 1}
	for _, text := range []string{out.String(), report} {
		if text != "" {
			result.Content = append(result.Content, &mcp.TextContent{Text: text})
		}
	}
	return result, nil, nil
}
