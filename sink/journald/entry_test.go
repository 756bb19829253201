// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

// A fakePort records the entries it gets, and fails as configured.
type fakePort struct {
	entries, files [][]byte
	sends          int
	errs           []error // of the next calls of send; the last one repeats
	fileErrs       []error // of sendFile
	connectErrs    []error
	connects       int
	closes         int
}

// next removes and returns the first error of a list, but keeps the last one.
func next(errs *[]error) (err error) {
	if len(*errs) > 0 {
		err = (*errs)[0]
	}
	if len(*errs) > 1 {
		*errs = (*errs)[1:]
	}
	return err
}

func (p *fakePort) send(entry []byte) error {
	p.sends++
	err := next(&p.errs)
	if err == nil {
		p.entries = append(p.entries, bytes.Clone(entry))
	}
	return err
}

func (p *fakePort) sendFile(entry []byte) error {
	err := next(&p.fileErrs)
	if err == nil {
		p.files = append(p.files, bytes.Clone(entry))
	}
	return err
}

func (p *fakePort) connect() error {
	p.connects++
	return next(&p.connectErrs)
}

func (p *fakePort) close() { p.closes++ }

// logged returns the entry of the line that f logs.
func logged(t *testing.T, c Config, f func(*nib.Logger), opts ...nib.Option) entry {
	t.Helper()
	p := new(fakePort)
	c.Identifier = "test"
	opts = append([]nib.Option{nib.WithLevel(nib.LevelTrace), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})}, opts...)
	f(nib.NewSink(newSink(c.withDefaults(), p), opts...))
	if len(p.entries) != 1 {
		t.Fatalf("%d entries, want 1", len(p.entries))
	}
	e, err := readEntry(p.entries[0])
	if err != nil {
		t.Fatalf("%v in %q", err, p.entries[0])
	}
	return e
}

func TestTheFieldsOfAnEntry(t *testing.T) {
	got := logged(t, Config{Line: "JSON"}, func(l *nib.Logger) {
		l.Named("db").Warn().Str("host", "10.0.0.7").Int("size", 16).Err(errors.New("gone")).Bool("ok", true).Err(nil).
			Strs("tags", []string{"a", "b"}).Dict("user", func(e *nib.Event) { e.Int("id", 7) }).Msg("two\nlines")
	})
	line := `{"level":"warn","logger":"db","host":"10.0.0.7","size":16,"error":"gone","ok":true,"error":null,"tags":["a","b"],"user":{"id":7},"message":"two\nlines"}`
	want := entry{
		{"MESSAGE", "two\nlines"}, {"PRIORITY", "4"}, {"SYSLOG_IDENTIFIER", "test"}, {"LEVEL", "warn"}, {"LOGGER", "db"}, {"HOST", "10.0.0.7"}, {"SIZE", "16"},
		{"ERROR", "gone"}, {"OK", "true"}, {"ERROR_2", "null"}, {"TAGS", `["a","b"]`}, {"USER", `{"id":7}`}, {"JSON", line},
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestTheCallSite(t *testing.T) {
	_, file, line, _ := runtime.Caller(0)
	got := logged(t, Config{}, func(l *nib.Logger) { l.Info().Msg("m") }, nib.WithCaller())
	for name, want := range map[string]string{
		"CODE_FILE": file, "CODE_LINE": strconv.Itoa(line + 1), "CODE_FUNC": "github.com/nib-log/nib/sink/journald.TestTheCallSite.func1",
	} {
		if got := got.get(t, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if names := logged(t, Config{}, func(l *nib.Logger) { l.Info().Msg("m") }).names(); slices.Contains(names, "CODE_FILE") {
		t.Errorf("without WithCaller: got fields %q", names)
	}
}

func TestPriorities(t *testing.T) {
	for level, want := range map[nib.Level]string{
		-100: "7", nib.LevelTrace: "7", nib.LevelDebug: "7", nib.LevelInfo - 1: "7", nib.LevelInfo: "6", nib.LevelInfo + 1: "6", nib.LevelInfo + 2: "5",
		nib.LevelWarn: "4", nib.LevelError - 1: "4", nib.LevelError: "3", nib.LevelPanic: "2", nib.LevelFatal: "1", 100: "1",
	} {
		e := logged(t, Config{}, func(l *nib.Logger) { l.At(level).Msg("m") }, nib.WithLevel(level))
		if got := e.get(t, "PRIORITY"); got != want {
			t.Errorf("%v: got priority %s, want %s", level, got, want)
		}
	}
}

func TestTheMessage(t *testing.T) {
	for _, tt := range []struct {
		name string
		log  func(l *nib.Logger)
		want string
		more []string // names of other fields
	}{
		{"text", func(l *nib.Logger) { l.Log().Msg("hello") }, "hello", nil},
		{"no text", func(l *nib.Logger) { l.Log().Str("a", "").Msg("") }, "", []string{"A"}},
		{"no message", func(l *nib.Logger) { l.Log().Str("a", "b").Send() }, `{"a":"b"}`, []string{"A"}},
		{"another field with the same text", func(l *nib.Logger) { l.Log().Str("a", "hello").Msg("hello") }, "hello", []string{"A"}},
		{"a field of that key", func(l *nib.Logger) { l.Log().Str("message", "forged").Msg("hello") }, "hello", []string{"FIELD_MESSAGE"}},
		{"control characters", func(l *nib.Logger) { l.Log().Msg("\x1b[31m\r\n\tred\u202e\x00") }, `\u001b[31m\u000d` + "\n\tred" + `\u202e\u0000`, nil},
	} {
		e := logged(t, Config{}, tt.log)
		if got := e.get(t, "MESSAGE"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if names := e.names()[3:]; !slices.Equal(names, tt.more) {
			t.Errorf("%s: got the fields %q besides, want %q", tt.name, names, tt.more)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("k", 70)
	for _, tt := range []struct{ prefix, keys, want string }{
		{"", "user userId user.id user-id USER", "USER USERID USER_ID USER_ID_2 USER_2"},
		{"", "_x __ 1st .a", "FIELD__X FIELD___ FIELD_1ST FIELD__A"},
		{"", "priority MESSAGE code_file Code-Line object_pid syslog_identifier nib_line", "FIELD_PRIORITY FIELD_MESSAGE FIELD_CODE_FILE FIELD_CODE_LINE FIELD_OBJECT_PID FIELD_SYSLOG_IDENTIFIER FIELD_NIB_LINE"},
		{"", "message_id errno documentation unit", "MESSAGE_ID ERRNO DOCUMENTATION UNIT"},
		{"", "json", "FIELD_JSON"}, // the name of the whole line
		{"", "日本 é ключ x日", "FIELD___ FIELD__ FIELD_____ X_"},
		{"", "a=b a\nb a\x00b a\u202eb", "A_B A_B_2 A_U0000B A_U202EB"},
		{"", long + " " + long + "x", strings.Repeat("K", 64) + " " + strings.Repeat("K", 62) + "_2"},
		{"", "a A a_2 a", "A A_2 A_2_2 A_3"},
		{"APP_", "user _x 1 priority json", "APP_USER APP__X APP_1 APP_PRIORITY APP_JSON"},
		{"CODE_", "file column", "FIELD_CODE_FILE CODE_COLUMN"},
	} {
		e := logged(t, Config{Prefix: tt.prefix, Line: "JSON"}, func(l *nib.Logger) {
			ev := l.Log()
			for key := range strings.SplitSeq(tt.keys, " ") {
				ev.Int(key, 1)
			}
			ev.Msg("m")
		})
		names := e.names()
		if got := strings.Join(names[3:len(names)-1], " "); got != tt.want {
			t.Errorf("%s%q:\n got %s\nwant %s", tt.prefix, tt.keys, got, tt.want)
		}
	}
}

// The number of a clash does not make the name of the whole line.
func TestClashWithTheNameOfTheLine(t *testing.T) {
	e := logged(t, Config{Line: "RAW_2"}, func(l *nib.Logger) { l.Log().Int("raw", 1).Int("Raw", 2).Msg("m") })
	if got, want := strings.Join(e.names()[3:], " "), "RAW RAW_3 RAW_2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnEmptyKeyHasAName(t *testing.T) {
	e := logged(t, Config{}, func(l *nib.Logger) { l.Log().Str("", "v").Msg("m") })
	if got := e.get(t, "FIELD_"); got != "v" {
		t.Errorf("got %q, want v", got)
	}
}

func TestClashesOfManyKeys(t *testing.T) {
	e := logged(t, Config{}, func(l *nib.Logger) {
		ev := l.Log()
		for range 999 {
			ev.Int("user.id", 1)
		}
		ev.Msg("m")
	})
	names := e.names()[3:]
	if len(names) != 999 || names[998] != "USER_ID_999" {
		t.Errorf("%d fields, the last is %s", len(names), names[len(names)-1])
	}
}

func TestFieldsBeyondTheLimitAreInTheLine(t *testing.T) {
	for n, whole := range map[int]bool{maxFields: false, maxFields + 1: true} {
		for _, name := range []string{"", "JSON"} {
			e := logged(t, Config{Line: name}, func(l *nib.Logger) {
				ev := l.Log()
				for i := range n {
					ev.Int("k"+strconv.Itoa(i), i)
				}
				ev.Msg("m")
			})
			field := name
			if name == "" {
				field = wholeLine
			}
			if has := slices.Contains(e.names(), field); has != (whole || name != "") {
				t.Errorf("%d fields: %s is there: %v", n, field, has)
			} else if has && !strings.Contains(e.get(t, field), fmt.Sprintf(`"k%d":%d`, n-1, n-1)) {
				t.Errorf("%d fields: the last is not in the line", n)
			}
			if want := 3 + maxFields; slices.Index(e.names(), "K"+strconv.Itoa(maxFields-1)) != want-1 {
				t.Errorf("%d fields: the last is not at %d in %q", n, want-1, e.names()[want-2:])
			}
		}
	}
}

// visible returns how a text looks in the journal, computed independently of
// the package.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		quoted := strconv.QuoteRuneToASCII(r)
		switch {
		case r == '\n', r == '\t', r == 0xad:
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune("\u2028\u2029\ufeff", r):
			if quoted[1] == '\\' && quoted[2] != 'u' {
				quoted = fmt.Sprintf(`'\u%04x'`, r)
			}
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// checkEntry fails t unless the entry of a line has the fields of the line, in
// order.
func checkEntry(t *testing.T, line []byte) {
	t.Helper()
	p := new(fakePort)
	given := bytes.Clone(line)
	must.Succeed(t, newSink(Config{Identifier: "x"}, p).WriteRecord(&nib.Record{Line: line}))
	if !bytes.Equal(line, given) {
		t.Errorf("%q: the line was changed to %q", given, line)
	}
	e, err := readEntry(p.entries[0])
	if err != nil {
		t.Fatalf("%q: %v in %q", line, err, p.entries[0])
	}
	if !json.Valid(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
		return // the line of a Record is an object
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	_, _ = dec.Token()
	for i := 3; dec.More() && i < maxFields; i++ {
		var value json.RawMessage
		_, _ = dec.Token()
		must.Succeed(t, dec.Decode(&value))
		want := string(value)
		if value[0] == '"' {
			_ = json.Unmarshal(value, &want)
			want = visible(want)
		}
		if i >= len(e) || e[i].value != want {
			t.Fatalf("%q: field %d of %q, want the value %q", line, i, e, want)
		}
	}
}

var hostile = []string{
	"", "a\nPRIORITY=0\n", "=", "a=b", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff", "\xff", "\\", `\u001b`, "\U0001f34a", "日本", "\"", "\r\n",
	"MESSAGE", "_PID", strings.Repeat("long ", 50),
}

func TestHostileText(t *testing.T) {
	for _, s := range hostile {
		var line bytes.Buffer
		l := nib.New(&line)
		l.Info().Str(s, s).Strs("list", []string{s}).Dict(s, func(e *nib.Event) { e.Str(s, s) }).Err(errors.New(s)).Msg(s)
		checkEntry(t, bytes.TrimSpace(line.Bytes()))
	}
}

// Each character is logged unescaped and as an escape sequence.
func TestEveryCharacter(t *testing.T) {
	for r := rune(0); r <= 0x11000; r++ {
		s := string(r)
		want := visible(s)
		quoted, _ := json.Marshal(s)
		sequence := fmt.Sprintf(`\u%04x`, r)
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			sequence = fmt.Sprintf(`\u%04x\u%04X`, high, low)
		}
		for _, body := range []string{string(quoted[1 : len(quoted)-1]), sequence, s} {
			if body == s && (r < 0x20 || r == '\\') {
				continue // not JSON
			}
			if got := string(appendText(nil, []byte(body))); got != want {
				t.Errorf("%U as %q: got %q, want %q", r, body, got, want)
			}
		}
	}
}

func FuzzEntry(f *testing.F) {
	for _, s := range hostile {
		quoted, _ := json.Marshal(s)
		f.Add(fmt.Appendf(nil, `{"k":%s,%s:{%s:[%s]},"message":"%s"}`, quoted, quoted, quoted, quoted, s))
	}
	f.Add([]byte(`{"a":"\ud83c\udf4a\ud800\u00e9\/\b\f","a":1e5,"\u0061":null}`))
	f.Fuzz(func(t *testing.T, line []byte) { checkEntry(t, line) })
}

func TestReadEntryCanFail(t *testing.T) {
	for _, b := range []string{
		"", "A", "A=1", "A=1\nB", "a=1\n", "_A=1\n", "1A=1\n", "A B=1\n", "=1\n", strings.Repeat("A", 65) + "=1\n",
		"A\n\x01\x00\x00\x00\x00\x00\x00\x00xy\n", "A\n\x02\x00\x00\x00\x00\x00\x00\x00x\n", "A\n\x01\x00",
	} {
		if e, err := readEntry([]byte(b)); err == nil {
			t.Errorf("%q was read as %q", b, e)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	for name, c := range map[string]Config{
		"Identifier": {Identifier: "a\nPRIORITY=0"},
		"Prefix":     {Prefix: "a_"},
		"Prefix ":    {Prefix: strings.Repeat("A", 33)},
		"Line":       {Line: "json"},
		"Line ":      {Line: "MESSAGE"},
		"Line  ":     {Line: "FIELD_X"},
		"Stall":      {Stall: -1},
		"Socket":     {Socket: strings.Repeat("/x", 60)},
	} {
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "nib/journald: "+strings.TrimSpace(name)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one fault that names it", name, err)
		}
		if _, openErr := Open(c); openErr == nil || openErr.Error() != err.Error() {
			t.Errorf("%s: Open gives %v, want %v", name, openErr, err)
		}
	}
	if err := (Config{Identifier: "x y", Prefix: "APP_", Line: "JSON", Stall: time.Second}).Validate(); err != nil {
		t.Error(err)
	}
}
