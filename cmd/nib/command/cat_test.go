// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/nib-log/nib/sink/spool"
)

// store writes a file of a test.
func store(t *testing.T, dir, name string, text ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(strings.Join(text, "\n")), 0o600))
	return path
}

const (
	first  = `{"time":"2026-11-20T10:00:00.000Z","level":"info","path":"/api/a","took":12.5,"message":"served"}`
	second = `{"time":"2026-11-20T10:00:01.000Z","level":"warn","path":"/api/b","took":300,"user":{"id":7},"message":"slow"}`
	third  = `{"level":"error","ts":1795168802.5,"caller":"a.go:1","msg":"zap failed","error":"timeout"}`
	fourth = `time=2026-11-20T10:00:03Z level=ERROR msg="slog says" took=1.5s n=007`
)

func catLog(t *testing.T) string {
	return store(t, t.TempDir(), "app.log", first, second, third, fourth, "panic: no log line", "")
}

func TestCat(t *testing.T) {
	log := catLog(t)
	const left = "nib: 1 lines that are not of a log were left out\n"
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"all", nil, 0, first + "\n" + second + "\n" + third + "\n" + fourth + "\npanic: no log line\n", ""},
		{"level", []string{"-l", "error"}, 0, third + "\n" + fourth + "\n", left},
		{"level and above", []string{"-l", "warn+", "-s"}, 0, second + "\n" + third + "\n" + fourth + "\n", ""},
		{"query", []string{"-sq", `took > 250ms and level < error`}, 0, second + "\n", ""},
		{"duration as text", []string{"-sq", `took = 1500ms`}, 0, fourth + "\n", ""},
		{"field", []string{"-s", "-f", "user.id=7", "-f", "path~^/api"}, 0, second + "\n", ""},
		{"field, text", []string{"-s", "-f", "time>2026-11-20 10:00:02.5+00:00", "-f", "msg<t or exists n"}, 0, fourth + "\n", ""},
		{"field, number", []string{"-s", "-f", "took> 250"}, 0, second + "\n", ""},
		{"since and until", []string{"-s", "--since", "2026-11-20T10:00:01Z", "--until", "2026-11-20T10:00:03Z"}, 0, second + "\n" + third + "\n", ""},
		{"nothing", []string{"-s", "-f", "path=none"}, 1, "", ""},
		{"console", []string{"-s", "-l", "warn", "-o", "console", "--utc"}, 0,
			"11-20 10:00:01.000 WARN  slow                                      path=/api/b took=300 user={id=7}\n" +
				"11-20 10:00:02.500 ERROR zap failed                                error=timeout a.go:1\n" +
				"11-20 10:00:03.000 ERROR slog says                                 took=1.5s n=007\n", ""},
		{"json", []string{"-s", "-l", "error", "-o", "json"}, 0, third + "\n" + `{"time":"2026-11-20T10:00:03Z","level":"ERROR","msg":"slog says","took":"1.5s","n":"007"}` + "\n", ""},
		{"json of text", []string{"-sq", "line contains panic", "-o", "json"}, 0, `{"message":"panic: no log line"}` + "\n", ""},
		{"logfmt", []string{"-sq", "took = 300", "-o", "logfmt"}, 0, "time=2026-11-20T10:00:01.000Z level=warn path=/api/b took=300 user.id=7 message=slow\n", ""},
		{"csv", []string{"-s", "-l", "warn", "-o", "csv", "--fields", "level,message,took,user.id"}, 0, "level,message,took,user.id\nwarn,slow,300,7\nerror,zap failed,,\nERROR,slog says,1.5s,\n", ""},
		{"fields", []string{"-s", "-l", "warn", "-o", "json", "--fields", "message,user.id"}, 0,
			`{"message":"slow","user.id":7}` + "\n" + `{"msg":"zap failed"}` + "\n" + `{"msg":"slog says"}` + "\n", ""},
		{"fields of raw lines", []string{"-sq", "took = 300", "--fields", "took,user.id"}, 0, `{"took":300,"user.id":7}` + "\n", ""},
		{"template", []string{"-s", "-l", "warn", "--utc", "-t", `{{{time:15:04}}} {level}\t{message}`}, 0, "{10:00} warn\tslow\n{10:00} error\tzap failed\n{10:00} ERROR\tslog says\n", ""},
		{"context", []string{"-C", "1", "-q", "level = error and exists n"}, 0, third + "\n" + fourth + "\npanic: no log line\n", ""},
		{"around", []string{"--around", "slog says"}, 0, first + "\n" + second + "\n" + third + "\n" + fourth + "\npanic: no log line\n", ""},
		{"wrong query", []string{"-q", "level >= loud"}, 2, "", "nib: --query: \"loud\" is not a level: write trace, debug, info, warn, error, panic or fatal\nnib:   level >= loud\nnib:            ^\n"},
		{"wrong flag", []string{"--nonsense"}, 2, "", "nib: unknown flag: --nonsense\n"},
		{"wrong output", []string{"-o", "xml"}, 2, "", "nib: --output: \"xml\" is none of console, json, logfmt, csv, raw\n"},
		{"wrong template", []string{"-t", "{"}, 2, "", "nib: --template: there is no field in the brace at character 1; {{ is a brace\n"},
		{"wrong time", []string{"--since", "soon"}, 2, "", "nib: --since: \"soon\" is not a time: write 2026-11-21T09:30:00Z, 14:30, yesterday or -3h\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			code, stdout, stderr := run(append([]string{"cat", log}, c.args...)...)
			if code != c.code || stdout != c.stdout || stderr != c.stderr {
				t.Errorf("got code %d, want %d\nstdout\n%swant\n%sstderr\n%swant\n%s", code, c.code, stdout, c.stdout, stderr, c.stderr)
			}
		})
	}
}

// The time and the level of a line of text are fields, too.
func TestFieldsOfText(t *testing.T) {
	log := store(t, t.TempDir(), "app.log", "2026-11-20 10:00:00.5 [ERROR] no space", "2026-11-20T12:00:01+02:00 WARN slow", "  at main.go:7", "")
	for _, c := range []struct {
		args string
		want string
	}{
		{"cat --utc -o csv --fields time,level", "time,level\n2026-11-20T10:00:00.5Z,error\n2026-11-20T10:00:01Z,warn\n,\n"},
		{"cat --utc -o json --fields level", `{"level":"error"}` + "\n" + `{"level":"warn"}` + "\n{}\n"},
		{"cat --utc -t {time:05}{level}", "00error\n01warn\n\n"},
		{"stat --utc --top 9", "\n  lines  level\n      1  -\n      1  error\n      1  warn\n"},
	} {
		if got := want(t, append(strings.Fields(c.args), log)...); !strings.Contains(got, c.want) {
			t.Errorf("nib %s: got\n%swant\n%s", c.args, got, c.want)
		}
	}
}

// Lines that could be of interest, but lack what decides about it, are counted
// behind the output.
func TestLinesWithoutALevelOrATimeAreReported(t *testing.T) {
	log := store(t, t.TempDir(), "app.log", first, `{"n":1}`, `{"level":"error"}`,
		`{"time":"2026-11-20T10:00:00Z"}`, "goroutine 1 [running]:", "WARN slow", "")
	const foreign = "nib: 1 lines that are not of a log were left out\n"
	level := func(n int) string {
		return fmt.Sprintf("nib: %d lines without a level were left out: "+
			"-q 'not exists level' selects such lines\n", n)
	}
	noTime := strings.NewReplacer("level", "time")
	for args, want := range map[string]string{
		"-l error":              foreign + level(2),
		"--since 2026-11-19":    foreign + noTime.Replace(level(3)),
		"--until 2026-11-19":    foreign + noTime.Replace(level(3)),
		"-l error --since 12s":  foreign + level(1) + noTime.Replace(level(1)),
		"-l error -f x=y":       foreign,
		"-f x=y":                foreign,
		"-l error -C 1":         "",
		"-l error -s":           "",
		"-q level!=error -n 9":  "",
		"-q level=error -n 9":   foreign + level(2),
		"-l error --since 900d": foreign + level(2) + noTime.Replace(level(1)),
	} {
		for _, verb := range []string{"cat", "tail --no-follow", "stat"} {
			isOther := strings.Contains(args, "-C") || strings.Contains(args, "-n 9")
			if verb == "stat" && isOther {
				continue
			}
			_, _, stderr := run(append(strings.Fields(verb+" "+args), log)...)
			if stderr != want {
				t.Errorf("%s %s: got\n%swant\n%s", verb, args, stderr, want)
			}
		}
	}
}

// Of several times and levels, each verb and form takes the first readable
// value; of other equal keys, the last one.
func TestLinesWithAKeyTwice(t *testing.T) {
	log := store(t, t.TempDir(), "app.log",
		`{"time":"2026-11-20T10:00:01Z","level":"error","a":1,"level":"info","a":2,`+
			`"time":"2026-01-01T00:00:00Z","message":"x","message":"m"}`,
		`{"time":"2026-11-20T10:00:02Z","level":"loud","level":"error","level":"info","a":2,"msg":"m"}`,
		`{"time":"2026-11-20T10:00:03Z","severity":"error","level":"info","a":2,"msg":"x","message":"m"}`,
		`time=2026-11-20T10:00:04Z level=error level=info a=1 a=2 msg=m`, "")
	for _, q := range []string{"level >= error", "level ~ ^error", "a = 2", "message = m",
		"time > 2026-11-20", "time ~ ^2026-11", "not level = info", "not time < 2026-11-20"} {
		if got := want(t, "cat", "-s", "-q", q, log); strings.Count(got, "\n") != 4 {
			t.Errorf("%s: got\n%s", q, got)
		}
	}
	for args, line := range map[string]string{
		"cat --utc -t {time:15:04},{level},{a},{message}":            "10:00,error,2,m",
		"cat -o csv --fields level,a,message":                        "error,2,m",
		"cat -o json --fields level":                                 `:"error"}`,
		"cat --utc -o console --fields time,level":                   " ERROR",
		"stat --utc --by level,a,message --top 1 --percentiles none": "      4  error  2  m        -         -    -    -",
	} {
		got := want(t, append(strings.Fields(args), log)...)
		n := 4
		if strings.HasPrefix(args, "stat") {
			n = 1
		}
		if strings.Count(got, line+"\n") != n {
			t.Errorf("%s: got\n%s", args, got)
		}
	}
	if got := want(t, "cat", "-t", "{time}", log); strings.Contains(got, "2026-01") {
		t.Errorf("got\n%s", got)
	}
}

// NUL bytes before a line are skipped and counted, and a level that is a number
// is shown by its name.
func TestHolesAndNumbersOfLevels(t *testing.T) {
	hole := strings.Repeat("\x00", 70_000)
	log := store(t, t.TempDir(), "a.log", "\ufeff"+`{"level":50,"msg":"a"}`,
		hole+`{"PRIORITY":"3","MESSAGE":"b"}`, "\x00\x00"+`{"level":35,"msg":"c"}`, "")
	code, stdout, stderr := run("cat", "-t", "{level} {message}", log)
	const report = "nib: 70,002 NUL bytes before lines were skipped\n"
	if code != 0 || stdout != "error a\nerror b\n35 c\n" || stderr != report {
		t.Errorf("got %d, %q and %q", code, stdout, stderr)
	}
	code, stdout, stderr = run("tail", "-n", "2", "--no-follow", log)
	want := `{"PRIORITY":"3","MESSAGE":"b"}` + "\n" + `{"level":35,"msg":"c"}` + "\n"
	if code != 0 || stdout != want || stderr != "" {
		t.Errorf("got %d, %q and %q", code, stdout, stderr)
	}
	_, stdout, _ = run("stat", log)
	if !strings.Contains(stdout, "2  error\n") {
		t.Errorf("got %s", stdout)
	}
}

func TestCatOfAFileThatIsMissingShowsTheOthers(t *testing.T) {
	log := catLog(t)
	code, stdout, stderr := run("cat", log, log+".none")
	if code != 2 || !strings.HasPrefix(stdout, first) || !strings.Contains(stderr, "app.log.none: no such file") {
		t.Errorf("got %d\n%s\n%s", code, stdout, stderr)
	}
}

// bzip2ed is a line; package bzip2 only reads.
const bzip2ed = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xc1\x3a\x1b\xff\x00\x00\x11\x59\x80\x00\x10\x10\x04\x00\x10\x2f\xaf\xc9\x0a\x20\x00\x31\x40\xd3\x43\x23\x26\x21\x46\x83\x21\xa0\x66\xa0\xee\xf0\x61\x0b\x37\x8b\x3a\xa7\x3c\x1f\x40\xf0\xd7\x28\x00\x4b\x48\x09\xfc\x5d\xc9\x14\xe1\x42\x43\x04\xe8\x6f\xfc"

func TestCompressedFilesAreRecognisedByTheirFirstBytes(t *testing.T) {
	const line = `{"level":"info","message":"packed"}` + "\n"
	pack := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, _ ...error,
	) {
		for _, part := range []string{line[:10], line[10:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		must(t, w.Close())
	}
	var gz, zst, xzed, lz bytes.Buffer
	pack(gzip.NewWriter(&gz))
	pack(gzip.NewWriter(&gz)) // a second member, as after a restart of the logger
	z, err := zstd.NewWriter(&zst)
	must(t, err)
	pack(z)
	x, err := xz.NewWriter(&xzed)
	must(t, err)
	pack(x)
	pack(lz4.NewWriter(&lz))
	for name, text := range map[string]string{"gz": gz.String(), "zst": zst.String(), "xz": xzed.String(), "lz4": lz.String(), "bz2": bzip2ed, "plain": line} {
		path := store(t, t.TempDir(), "misnamed.log", text)
		wantText := line
		if name == "gz" {
			wantText += line
		}
		if got := want(t, "cat", path); got != wantText {
			t.Errorf("%s: got %q", name, got)
		}
	}
	path := store(t, t.TempDir(), "cut.gz", gz.String()[:gz.Len()-20])
	code, stdout, stderr := run("cat", path)
	if code != 2 || !strings.HasPrefix(stdout, line) || !strings.Contains(stderr, "unexpected EOF") {
		t.Errorf("a file that is cut: got %d, %q, %q", code, stdout, stderr)
	}
}

func at(seconds, of string) string {
	return `{"time":"2026-11-20T10:00:` + seconds + `Z","level":"info","message":"` + of + `"}`
}

func TestRotatedFilesAreOneStream(t *testing.T) {
	dir := t.TempDir()
	// Their times would merge them in another order.
	store(t, dir, "app.log", at("01", "last"), "")
	store(t, dir, "app.log.1", at("02", "third"), "")
	store(t, dir, "app.log.2", at("03", "second"))
	store(t, dir, "app.log.10", at("04", "first"), "")
	store(t, dir, "web-20261120T100000.000000Z-0000.log", at("20", "w1"), "")
	store(t, dir, "web-20261120T100000.000000Z-0001.log", at("10", "w2"), "")
	store(t, dir, "web.log", at("15", "w3"), "")
	got := want(t, "cat", "-t", "{message}", filepath.Join(dir, "app.log*"))
	if got != "first\nsecond\nthird\nlast\n" {
		t.Errorf("got %q", got)
	}
	code, stdout, stderr := run("cat", "-t", "{message}", filepath.Join(dir, "*"))
	if code != 0 || stdout != "first\nsecond\nthird\nlast\nw1\nw2\nw3\n" || stderr != "nib: 5 lines are older than the line before them in the same source\n" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
}

func TestLogsAreMergedByTime(t *testing.T) {
	dir := t.TempDir()
	a := store(t, dir, "a.log", at("01", "a1"), "\tat main.go", at("04", "a4"), "")
	b := store(t, dir, "b.log", `{"level":"info","ts":1795168802,"msg":"b2"}`, at("03", "b3"), at("05", "b5"))
	if got := want(t, "cat", "-t", "{message}", a, b); got != "a1\n\\tat main.go\nb2\nb3\na4\nb5\n" {
		t.Errorf("got %q", got)
	}
	if got := want(t, "cat", "-s", "-C", "1", "-q", "message = b3", "-t", "{message}", a, b); got != "b2\nb3\na4\n" {
		t.Errorf("with context: got %q", got)
	}
	if got := want(t, "cat", "-C", "0", "-sq", "message in (a1, b5)", "-t", "{message}", a, b); got != "a1\nb5\n" {
		t.Errorf("without: got %q", got)
	}
	if got := want(t, "cat", "-C", "1", "-sq", "message in (a1, b5)", "-t", "{message}", a, b); got != "a1\n\\tat main.go\n--\na4\nb5\n" {
		t.Errorf("with a gap: got %q", got)
	}
}

func TestCompletionsAreHarmless(t *testing.T) {
	log := store(t, t.TempDir(), "app.log", `{"k":"a\u001b]0;x\u0007"}`, `{"k":"\u202ey"}`, `{"k":"a\tb"}`, `{"k":"good"}`, "a\u202eb=1 c=2", "")
	for typed, want := range map[string]string{"k=": "k=good\n:4\n", "": "c=\nk=\nlevel=\nmessage=\ntime=\n:6\n"} {
		if out := want2(t, "__complete", "cat", log, "-f", typed); out != want {
			t.Errorf("%q: got %q, want %q", typed, out, want)
		}
	}
}

func TestExportsOfTheJournal(t *testing.T) {
	path := store(t, t.TempDir(), "j.export",
		"__CURSOR=s=1", "__REALTIME_TIMESTAMP=1795168800000000", "PRIORITY=4", "MESSAGE", "\x08\x00\x00\x00\x00\x00\x00\x00two\nrows", "_PID=7", "",
		"__CURSOR=s=2", `MESSAGE={"level":"error","message":"a line of JSON"}`, "", "")
	if got := want(t, "cat", "-t", "{level} {message} {_PID}", path); got != "warn two\\nrows 7\nerror a line of JSON \n" {
		t.Errorf("got %q", got)
	}
	if got := want(t, "cat", "-l", "error", "-t", "{message}", path); got != "a line of JSON\n" {
		t.Errorf("got %q", got)
	}
}

func TestCatOfASpool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	s := keep(t, dir, 2000, spool.Config{})
	defer s.Close()
	var wantLines strings.Builder
	for n := range 2000 {
		wantLines.Write(line(n))
	}
	if got := want(t, "cat", dir); got != wantLines.String() {
		t.Errorf("got %d bytes, want %d", len(got), wantLines.Len())
	}
	code, _, stderr := run("cat", t.TempDir())
	if code != 2 || !strings.Contains(stderr, "without a spool") {
		t.Errorf("got %d, %s", code, stderr)
	}
}

func TestCompletionOfFields(t *testing.T) {
	log := catLog(t)
	for typed, wantList := range map[string]string{
		"-f pa": "path=", "-f path=/api/": "path=/api/a path=/api/b", "-q took>1_and_us": "took>1 and user", "-l ": "trace debug info warn error panic fatal", "-o c": "console json logfmt csv raw",
	} {
		flag, text, _ := strings.Cut(typed, " ")
		out := want2(t, "__complete", "cat", log, flag, strings.ReplaceAll(text, "_", " "))
		var got []string
		for l := range strings.Lines(out) {
			if !strings.HasPrefix(l, ":") {
				got = append(got, strings.TrimSpace(l))
			}
		}
		if strings.Join(got, " ") != wantList {
			t.Errorf("%s: got %q, want %s", typed, got, wantList)
		}
	}
}

// want2 is like want, for a command that also writes to standard error.
func want2(t *testing.T, args ...string) string {
	code, stdout, stderr := run(args...)
	if code != 0 {
		t.Fatalf("got %d, %s", code, stderr)
	}
	return stdout
}

// TestTailOfASpoolBeginsWithItsLastLines has records in several segments.
func TestTailOfASpoolBeginsWithItsLastLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	keep(t, dir, 5000, spool.Config{}).Close()
	for _, c := range []struct {
		args string
		want string // numbers
	}{
		{"-n 3", "4997 4998 4999"},
		{"-n 1200", ""},
		{"-q n<4 -n 2", "2 3"},
		{"-q n<4 -n 9", "0 1 2 3"},
	} {
		want := strings.Fields(c.want)
		if c.want == "" {
			for n := 3800; n < 5000; n++ {
				want = append(want, strconv.Itoa(n))
			}
		}
		tail := child(append(append([]string{"tail", "-t", "{n}"}, strings.Fields(c.args)...), dir)...)
		out, err := tail.StdoutPipe()
		must(t, err, tail.Start())
		lines := bufio.NewScanner(out)
		for i, n := range want {
			if !lines.Scan() || lines.Text() != n {
				t.Errorf("%s: line %d is %q, want %s", c.args, i, lines.Text(), n)
				break
			}
		}
		_ = tail.Process.Kill()
		_ = tail.Wait()
	}
}

func TestTailOfASpoolHasEachLineOnceOverKills(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "spool"), 0o700))
	keep(t, filepath.Join(dir, "spool"), 10, spool.Config{Name: "file"}).Close()
	tail := child("tail", "-t", "{n}", filepath.Join(dir, "spool"))
	out, err := tail.StdoutPipe()
	must(t, err, tail.Start())
	defer func() { _ = tail.Process.Kill(); _ = tail.Wait() }()
	lines := bufio.NewScanner(out)
	for n := range 10 {
		if !lines.Scan() || lines.Text() != strconv.Itoa(n) {
			t.Fatalf("got %q, want %d", lines.Text(), n)
		}
	}
	for round := range 3 { // each process numbers its lines from 0
		service := child()
		service.Env = append(os.Environ(), asService+"="+dir)
		logged, err := service.StdoutPipe()
		must(t, err, service.Start())
		acknowledged := bufio.NewScanner(logged)
		for range 50 {
			if !acknowledged.Scan() {
				t.Fatal("the service has ended")
			}
		}
		must(t, service.Process.Kill())
		_ = service.Wait()
		for n := range 50 {
			if !lines.Scan() {
				t.Fatalf("round %d: the output has ended", round)
			}
			if lines.Text() == "0" && n > 0 {
				t.Fatalf("round %d: line 0 is there again after %d", round, n)
			}
			if n > 0 {
				continue
			}
			for lines.Text() != "0" { // lines of the last round that were logged after those counted
				if !lines.Scan() {
					t.Fatalf("round %d: no line 0", round)
				}
			}
		}
	}
}
