// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/cmd/nib/term"
)

// TestMain makes the test binary the service that the demo kills.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerVerb {
		os.Exit(worker(os.Stdin, os.Stdout))
	}
	for _, name := range []string{"CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"} {
		_ = os.Unsetenv(name) // of the environment of the tests
	}
	os.Exit(m.Run())
}

// figures finds a row of the report, whose figures are of file and topic.
func figures(out, name string) string {
	m := regexp.MustCompile(`(?m)^  ` + name + `((?: +[0-9,.]+)+)`).FindStringSubmatch(out)
	if m == nil {
		return "no row"
	}
	return strings.Join(strings.Fields(m[1]), " ")
}

// Three kills lose nothing, neither in the file nor in the topic.
func TestKilledServiceLosesNoLine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var b bytes.Buffer
	c := config{plan: plan{3000, 4}, kills: 3, out: &b}
	if err := c.demo(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	out := b.String()
	zero := []string{"dropped", "lost", "duplicates", "out of order", "invalid", "untrue"}
	for _, row := range zero {
		if got := figures(out, row); got != "0 0" {
			t.Errorf("%s: got %s", row, got)
		}
	}
	logged, delivered := figures(out, "logged"), figures(out, "delivered")
	if logged != delivered || figures(out, "requests") != "3,000" {
		t.Errorf("%s lines are logged, %s delivered", logged, delivered)
	}
	if strings.Count(out, "kill -9 ") != 3 || strings.Count(out, "back as ") != 3 {
		t.Error("it was not killed three times")
	}
	got := strings.Count(out, "remote=127.0.0.1:")
	if got != shown || strings.Contains(out, "\x1b") {
		t.Errorf("%d access lines are shown, want %d without colours", got, shown)
	}
	_, report, _ := strings.Cut(out, "\nPASS ")
	for line := range strings.SplitSeq(report, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// Mallocs of the spool's goroutines are not counted as mallocs of a line.
func TestMallocsOfALine(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs of this build, as with -race, differ from a plain build's")
	}
	for range 5 {
		if _, mallocs, err := measure(t.TempDir()); err != nil || mallocs != 0 {
			t.Errorf("got %v mallocs and %v, want none", mallocs, err)
		}
	}
}

// A tampering changes the lines of a file.
type tampering func(lines [][]byte) [][]byte

func replace(n int, old, new string) tampering {
	return func(l [][]byte) [][]byte {
		l[n] = bytes.Replace(l[n], []byte(old), []byte(new), 1)
		return l
	}
}

func join(more string) tampering {
	return func(l [][]byte) [][]byte { return append(l, []byte(more)) }
}

func without(n int) tampering {
	return func(l [][]byte) [][]byte { return slices.Delete(l, n, n+1) }
}

var tampered = []struct {
	name      string
	tamper    tampering
	row, want string
}{
	{"a line is missing", without(500), "lost", "1"},
	{"the last line is missing", without(1011), "lost", "1"},
	{"all lines are missing", func([][]byte) [][]byte { return nil }, "lost", "1,012"},
	{"a line is there twice", func(l [][]byte) [][]byte { return append(l, l[7]) },
		"duplicates", "1"},
	{"a line is late", func(l [][]byte) [][]byte {
		return append(slices.Delete(slices.Clone(l), 7, 8), l[7])
	}, "out of order", "1"},
	{"a line is cut", replace(9, `"}`, ""), "invalid", "1"},
	{"the last line has no end", replace(1011, "\n", ""), "invalid", "1"},
	{"two lines run together", replace(3, "\n", ""), "invalid", "1"},
	{"a line of someone else", join("{\"x\":1}\n"), "invalid", "1"},
	{"an empty line", join("\n"), "invalid", "1"},
	{"another request", replace(1011, `"request_id":"c`, `"request_id":"c9`), "invalid", "1"},
	{"another status", replace(5, `"status":`, `"status":1`), "untrue", "1"},
}

// The files of a run are changed: each change is found, and keeps the files.
func TestVerdictOnTamperedFiles(t *testing.T) {
	dir := t.TempDir()
	r, err := config{plan: plan{1000, 4}, out: io.Discard}.run(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, logName)
	whole, err := os.ReadFile(path)
	if err != nil || r.verdict(dir) != nil {
		t.Fatal(err, r.verdict(dir))
	}
	for _, c := range tampered {
		lines := bytes.SplitAfter(bytes.Clone(whole), []byte{'\n'})
		text := bytes.Join(c.tamper(lines[:len(lines)-1]), nil)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		inFile := newCheck(toFile, r.ledger)
		if _, err := inFile.files(dir); err != nil {
			t.Fatal(err)
		}
		bad := *r
		bad.places = []*check{inFile, r.places[1]}
		var b bytes.Buffer
		bad.write(&b, term.Style{})
		got, _, _ := strings.Cut(figures(b.String(), c.row), " ")
		if err := bad.verdict(dir); !errors.Is(err, errLines) || got != c.want {
			t.Errorf("%s: %s: got %s, %v, want %s\n%s", c.name, c.row, got, err, c.want, &b)
		}
	}
	r.ledger.dropped = 1
	if err := r.verdict(dir); !errors.Is(err, errLines) {
		t.Errorf("a dropped line: got %v", err)
	}
}

// accessText returns the access line of a request of the first connection.
func accessText(n int) []byte {
	const form = `{"time":"2026-11-21T09:30:00.123Z","level":%q,"method":%q,"path":%q,` +
		`"status":%d,"bytes":%d,"took":1,"remote":"x","request_id":%q,"message":"request"}` + "\n"
	r := expect(n)
	return fmt.Appendf(nil, form, r.level(), r.method, itemPath(n), r.status, len(r.body),
		requestID(0, n))
}

// The ledger decides which of the lines of three requests must be found.
func TestLedgerDecidesWhatIsLost(t *testing.T) {
	const returned, dropped, unknown = 'r', 'd', 'u'
	for _, c := range []struct {
		name             string
		call             rune // of request 1
		cut, there       bool
		delivered, lost  int
		midCall, dropped int
	}{
		{"returned and there", returned, false, true, 3, 0, 0, 0},
		{"returned and not there", returned, false, false, 2, 1, 0, 0},
		{"returned, cut off and not there", returned, true, false, 2, 1, 0, 0},
		{"cut off and there", unknown, true, true, 3, 0, 1, 0},
		{"cut off and not there", unknown, true, false, 2, 0, 0, 0},
		{"answered, not reported and not there", unknown, false, false, 2, 1, 0, 0},
		{"dropped and not there", dropped, false, false, 2, 0, 0, 1},
	} {
		l := newLedger(plan{requests: 3, connections: 1})
		got := newCheck(toFile, l)
		for n := range 3 {
			if n != 1 || c.call != unknown {
				l.note(key{accessLine, 0, n}, n != 1 || c.call == returned)
			}
			if n != 1 || c.there {
				got.line(accessText(n))
			}
		}
		if c.cut {
			l.cutOff(0, 1)
		}
		got.findLost()
		if got.delivered != c.delivered || got.lost != c.lost || got.midCall != c.midCall ||
			l.dropped != c.dropped || got.ok() != (c.lost == 0) {
			t.Errorf("%s: got %+v and %d dropped", c.name, got, l.dropped)
		}
	}
}

func TestKillMoments(t *testing.T) {
	for _, c := range []struct {
		requests, kills int
		want            []int
	}{
		{50_000, 1, []int{25_000}}, {9, 2, []int{3, 6}}, {1, 1, []int{1}}, {2, 5, []int{1}},
		{100, 0, nil},
	} {
		if got := killMoments(c.requests, c.kills); !slices.Equal(got, c.want) {
			t.Errorf("%d requests, %d kills: got %d, want %d", c.requests, c.kills, got, c.want)
		}
	}
}

// A service that cannot open its spool says why.
func TestFaultOfTheServiceIsReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, spoolName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := config{plan: plan{1, 1}, out: io.Discard}
	if _, err := c.run(context.Background(), dir); err == nil ||
		!strings.Contains(err.Error(), "nib/spool: open") {
		t.Errorf("got %v", err)
	}
}

func TestInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := config{plan: plan{1000, 2}, out: io.Discard}
	if _, err := c.run(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

func TestKeyOfALine(t *testing.T) {
	p := plan{requests: 100, connections: 2}
	for id, want := range map[string]bool{
		"c0-0": true, "c1-49": true, "c1-50": false, "c2-0": false, "c-1-0": false,
		"c0--1": false, "0-0": false, "cc0-0": false, "c00-0": false, "c0-+1": false,
		"c0-1x": false, "": false,
	} {
		k, ok := p.keyOf(id, accessMessage)
		if ok != want || ok && requestID(k.connection, k.n) != id {
			t.Errorf("%q: got %v, %v", id, k, ok)
		}
	}
	for _, p := range []plan{{1, 1}, {1, 8}, {7, 8}, {8, 8}, {1003, 8}} {
		sum := 0
		for c := range p.connections {
			sum += p.of(c)
		}
		if sum != p.requests {
			t.Errorf("%+v: got %d requests", p, sum)
		}
	}
}

func TestBarFitsTheTerminal(t *testing.T) {
	for width := range 120 {
		got := picture(term.Style{}, 25_000, 50_000, time.Second, width)
		if utf8.RuneCountInString(got) > max(0, width-1) {
			t.Errorf("width %d: got %q", width, got)
		}
	}
	got := picture(term.Style{}, 25_000, 50_000, time.Second, 100)
	want := strings.Repeat("━", 20) + strings.Repeat("─", 20) +
		"  50 %  25,000 of 50,000  25,000/s"
	if strings.TrimSpace(got) != want {
		t.Errorf("half-way: got %q, want %q", got, want)
	}
}
