// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/sink/console"
)

// Parts of lines are joined, however they are read.
func TestPartsOfLinesAreJoined(t *testing.T) {
	const at = "2026-11-26T12:00:02.000000001Z"
	for name, c := range map[string]struct{ in, want string }{
		"whole": {
			at + " stdout F a\n" + at + " stderr F b\n",
			at + " stdout F a\n" + at + " stderr F b\n",
		},
		"two streams": {
			at + " stdout P a\n" + at + " stderr P x\n" + at + " stdout P b\n" +
				at + " stderr F y\n" + at + " stdout F c\n",
			at + " stderr F xy\n" + at + " stdout F abc\n",
		},
		"within a rune": {at + " stdout P a\xc3\n" + at + " stdout F \xa4b\n", at + " stdout F aäb\n"},
		"at the end":    {at + " stdout P a\n", at + " stdout F a\n"},
		"no line break": {at + " stdout P a\n" + at + " stdout F b", at + " stdout F ab"},
		"empty":         {at + " stdout P \n" + at + " stdout F \n", at + " stdout F \n"},
		"Docker": {
			`{"log":"a \"","stream":"stdout","time":"1"}` + "\n" +
				`{"log":"x\n","stream":"stderr","time":"2"}` + "\n" +
				`{"log":"b","stream":"stdout","time":"3"}` + "\n" +
				`{"log":"c\n","stream":"stdout","time":"4"}` + "\n",
			`{"log":"x\n","stream":"stderr","time":"2"}` + "\n" +
				`{"log":"a \"bc\n","stream":"stdout","time":"4"}` + "\n",
		},
		"OTLP": {
			`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"a":1},{"a":2}]},` +
				`{"logRecords":[{"a":3}]}]},{}]}` + "\n" + `{"resourceLogs":1}` + "\n",
			"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n" + `{"resourceLogs":1}` + "\n",
		},
		"others": {"key=text\n" + at + " stdout P a\n", "key=text\n" + at + " stdout P a\n"},
		"none":   {"", ""},
	} {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in)),
			"with its end": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			if got, err := io.ReadAll(joined(r)); err != nil || string(got) != c.want {
				t.Errorf("%s, %s:\n got %q, %v\nwant %q", name, how, got, err, c.want)
			}
		}
	}
}

// The two lines of a record of java.util.logging are joined.
func TestLinesOfJavaAreJoined(t *testing.T) {
	const first, second = "Nov 26, 2026 1:00:00 PM a.B main", "SEVERE: boom"
	const two, record = first + "\n" + second + "\n", first + " " + second + "\n"
	noDay := strings.Replace(two, "26", "31", 1)
	const at, docker = "2026-11-26T12:00:02.000000001Z", `"stream":"stdout","time":"1"}` + "\n"
	for name, c := range map[string]struct{ in, want string }{
		"two records": {
			first + "\n" + second + "\n\tat a.B\n" + first + "\n" + second + "\n",
			record + "\tat a.B\n" + record,
		},
		"behind others": {
			"WARNING: a\n\n" + first + "\n" + second + "\n", "WARNING: a\n\n" + record,
		},
		"CR":             {first + "\r\n" + second + "\r\n", record[:len(record)-1] + "\r\n"},
		"no line break":  {first + "\n" + second, record[:len(record)-1]},
		"no second line": {first + "\n" + first + "\nx\n", first + "\n" + first + "\nx\n"},
		"at the end":     {first + "\n", first + "\n"},
		"three words":    {first + " x\n" + second + "\n", first + " x\n" + second + "\n"},
		"no level":       {first + "\nINFO:x\n", first + "\nINFO:x\n"},
		"no day":         {noDay, noDay},
		"an object":      {first + "\n{\"log\":1}\nx\n", first + "\n{\"log\":1}\nx\n"},
		"JSON":           {"{}\n" + two, "{}\n" + two},
		"logfmt":         {"a=b\n" + two, "a=b\n" + two},
		"text before it": {"nohup: ignoring input\n" + two, "nohup: ignoring input\n" + record},
		"Kubernetes": {
			at + " stdout F " + first + "\n" + at + " stderr F x\n" +
				at + " stdout P SEVERE:\n" + at + " stdout F  boom\n",
			at + " stderr F x\n" + at + " stdout F " + record,
		},
		"Docker": {
			`{"log":"` + first + `\n",` + docker + `{"log":"SEVERE: ",` + docker +
				`{"log":"boom\n",` + docker,
			`{"log":"` + record[:len(record)-1] + `\n",` + docker,
		},
	} {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.in),
			"bytes":   iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			if got, err := io.ReadAll(joined(r)); err != nil || string(got) != c.want {
				t.Errorf("%s, %s:\n got %q, %v\nwant %q", name, how, got, err, c.want)
			}
		}
	}
}

// The last records of a file and the ones that follow are whole, wherever a
// block of the file begins.
func TestTheLastRecordsOfJavaAreWhole(t *testing.T) {
	const record = "Nov 26, 2026 1:00:00 PM a.B main\nINFO: ok\n"
	const before = record + "java.lang.Error\n"
	path := filepath.Join(t.TempDir(), "jul.log")
	for _, space := range []int{tailBlock, 60, 43, 30, 12, 10, -tailBlock} {
		long := tailBlock - space
		text := before + record + strings.Repeat("x", long) + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		q, err := logread.ParseQuery("level = info and time > 2000-01-01", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range []int{len(text), len(before), 0} {
			from, err := tailOffset(t, path, Selection{Query: q}, n)
			if from != int64(want) || err != nil {
				t.Errorf("%d, with %d bytes behind: got %d, %v, want %d", n, long, from, err, want)
			}
		}
		from, err := tailOffset(t, path, Selection{}, 2)
		if from != int64(len(before)) || err != nil {
			t.Errorf("got %d, %v, want %d", from, err, len(before))
		}
	}
	// A file that is read from the middle has such records, too.
	var out strings.Builder
	text := before + record + record[:33]
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	from, err := tailOffset(t, path, Selection{}, 0)
	if want := int64(len(before + record)); from != want || err != nil {
		t.Errorf("got %d, %v, want %d: the last record may continue", from, err, want)
	}
	last, err := Last([]Source{{Path: path}}, Selection{}, 3)
	if err == nil {
		_, err = Cat(t.Context(), &out, last, Selection{}, newRawRenderer)
	}
	const want = "java.lang.Error\nNov 26, 2026 1:00:00 PM a.B main INFO: ok\nNov"
	if err != nil || !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %.80q, %v, want %q", &out, err, want)
	}
}

// The last lines of a file are whole, too, and so are the ones that follow.
func TestTheLastLinesAreWhole(t *testing.T) {
	const at = "2026-11-26T12:00:02.000000001Z "
	long := strings.Repeat("x", tailBlock*3/4)
	lines := func(text string) string { return strings.ReplaceAll(text, "|", "\n"+at) }
	for _, c := range []struct{ in, last, rest string }{
		{"F a|stdout P b|stdout F c", "F bc", ""},
		{"F a|stdout P b|stderr P x|stdout P c|stderr F y|stdout F d", "F bcd", ""},
		{"F x|stdout P a|stderr P b|stderr F c", "F a", "P a|stderr P b|stderr F c"},
		{"P " + long + "|stdout P " + long + "|stdout F c", "F " + long + long + "c", ""},
		{"P a|stdout F b|stdout F c", "F c", ""},
	} {
		path := filepath.Join(t.TempDir(), "cri.log")
		text := lines("|stdout " + c.in)[1:] + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sources, err := Find([]string{path}, nil, false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		last, err := Last(sources, Selection{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := Cat(t.Context(), &out, last, Selection{}, newRawRenderer); err != nil {
			t.Fatal(err)
		}
		if want := at + "stdout " + c.last + "\n"; out.String() != want {
			t.Errorf("%.80s: got %.80q, want %.80q", c.in, &out, want)
		}
		from, err := tailOffset(t, path, Selection{}, 0)
		if want := lines(c.rest); err != nil || !strings.Contains(text[from:], want) ||
			want == "" && text[from:] != "" {
			t.Errorf("%.80s: then %.80q, %v, want %.80q", c.in, text[from:], err, want)
		}
	}
}

// tailOffset returns the offset of the last n selected lines.
func tailOffset(t *testing.T, path string, s Selection, n int) (int64, error) {
	t.Helper()
	f, from, err := openTail(path, s, n)
	if err != nil {
		return 0, err
	}
	return from, f.Close()
}

func newRawRenderer() Renderer { return rawRenderer{} }

// Each file has lines of another program.
func TestLogsOfOtherPrograms(t *testing.T) {
	for name, want := range map[string]string{
		"cri":       "12:00:00 info ok|12:00:01 error bad|12:00:02 error split|",
		"docker":    "12:00:00 info ok|12:00:01 error bad|",
		"otel":      "12:00:01 error bad|",
		"rust":      "12:00:00 info ok|12:00:01 error bad|",
		"serilog":   "12:00:00 info ok 1|12:00:01 error bad 2|",
		"structlog": "12:00:00 info ok|12:00:01 error bad|",
		"stern":     "12:00:00 info ok|12:00:01 error bad|",
		"klog":      "12:00:00 info Pod status updated|12:00:01 error Failed|",
		"caddy":     "12:00:00 info handled request|12:00:01 error handled request|",
		"java":      "12:00:00 info ok|12:00:01 error bad|00:00:00 info \tat com.shop.API.main|",
		"ecs":       "12:00:01 error bad|12:00:01 error bad nested|",
	} {
		sources, err := Find([]string{filepath.Join("testdata", name+".log")}, nil, false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		s := Selection{Query: logread.And(), Zone: time.UTC}
		if _, err := Cat(context.Background(), &out, sources, s, newReadRenderer); err != nil {
			t.Error(err)
		}
		if got := out.String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// readRenderer writes what was read of lines.
type readRenderer struct{}

func newReadRenderer() Renderer { return readRenderer{} }

func (readRenderer) Append(dst []byte, l *logread.Line) []byte {
	at, _ := l.Time()
	level, _ := l.Level()
	message, _ := valueOf(l, "message")
	if l.Format() != logread.FormatText {
		message = l.Text(message)
	}
	dst = at.UTC().AppendFormat(dst, "15:04:05 ")
	return append(append(append(append(dst, level.String()...), ' '), message...), '|')
}

// Lines in envelopes are shown like others, with what only the envelope says.
func TestLinesInEnvelopesAreShown(t *testing.T) {
	form := Form{Output: "console", Console: console.Config{
		Color: console.ColorNever, Width: -1, TimeZone: time.UTC, TimeFormat: "15:04",
	}}
	newConsole, _, err := form.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	const docker = `{"log":"{\"level\":\"warn\",\"message\":\"m\",\"n\":1}\n","stream":"stdout",` +
		`"time":"2026-11-26T12:00:00Z"}`
	const dockerJSON = `{"time":"2026-11-26T12:00:00Z","level":"warn","message":"m","n":1}`
	for _, c := range []struct{ line, console, json string }{
		{docker, "12:00 WARN m n=1", dockerJSON},
		{
			`{"log":"text\n","stream":"stdout","time":"2026-11-26T12:00:00Z"}`, "12:00 text",
			`{"time":"2026-11-26T12:00:00Z","message":"text"}`,
		},
		{
			`<11>1 2026-11-26T12:00:00Z h app - - - {"message":"m"}`, "12:00 ERROR m host=h",
			`{"time":"2026-11-26T12:00:00Z","level":"error","message":"m","host":"h"}`,
		},
		{
			`{"MESSAGE":"level=warn msg=m","_HOSTNAME":"h","__REALTIME_TIMESTAMP":"1795694400000000"}`,
			"12:00 WARN m host=h", `{"time":"2026-11-26T12:00:00Z","level":"warn","msg":"m","host":"h"}`,
		},
		{
			`{"MESSAGE":[104,105,255],"__REALTIME_TIMESTAMP":"1795694400000000"}`, "12:00 hi\ufffd",
			`{"MESSAGE":[104,105,255],"__REALTIME_TIMESTAMP":"1795694400000000"}`,
		},
		{"web-1 | " + docker, "web-1 | 12:00 WARN m n=1", dockerJSON},
		{
			"2026/11/26 12:00:00 ERROR boom", "2026/11/26 12:00:00 ERROR boom",
			`{"time":"2026-11-26T12:00:00Z","level":"error","message":"boom"}`,
		},
		{"ERROR:root:boom", "ERROR:root:boom", `{"level":"error","message":"boom"}`},
	} {
		var l logread.Line
		l.Reset([]byte(c.line))
		shown := strings.Join(strings.Fields(string(newConsole().Append(nil, &l))), " ")
		if shown != c.console {
			t.Errorf("%s:\n got %s\nwant %s", c.line, shown, c.console)
		}
		if got := bytes.TrimSpace(jsonRenderer{}.Append(nil, &l)); string(got) != c.json {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.json)
		}
	}
}

// An entry of the journal whose message is a line without a time or a level has
// its own.
func TestAnEntryCompletesItsMessage(t *testing.T) {
	const export = "__CURSOR=c\n__REALTIME_TIMESTAMP=1795694400000000\n" +
		"PRIORITY=3\nMESSAGE={\"message\":\"m\"}\n\n"
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	sources, err := Find([]string{path}, nil, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := Selection{Query: logread.And(), Zone: time.UTC}
	if _, err := Cat(context.Background(), &out, sources, s, newReadRenderer); err != nil {
		t.Fatal(err)
	}
	if want := "12:00:00 error m|"; out.String() != want {
		t.Errorf("got %s, want %s", &out, want)
	}
}

// The zeros that a tape or a device adds to a gzip file are no lines.
func TestPaddedGzip(t *testing.T) {
	var packed bytes.Buffer
	for _, text := range []string{"a\n", "b\n"} {
		w := gzip.NewWriter(&packed)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		packed.Write(make([]byte, 512))
	}
	for text, isWhole := range map[string]bool{
		packed.String(): true, packed.String()[:packed.Len()-512]: true,
		packed.String() + "x": false,
	} {
		r, err := decompress(io.NopCloser(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != "a\nb\n" || (err == nil) != isWhole {
			t.Errorf("%d bytes: got %q, %v", len(text), got, err)
		}
	}
}
