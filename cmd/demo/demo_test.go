// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// small returns a demo without a kill.
func small(dir string, out io.Writer) Config {
	return Config{Requests: 1000, Connections: 4, Show: 3, Kafka: NoKafka, calls: 200, Dir: dir, Out: out, Progress: out}
}

// figure finds a row of the table.
func figure(out, name string) string {
	m := regexp.MustCompile(`(?m)^  ` + name + ` +([0-9,.]+)`).FindStringSubmatch(out)
	if m == nil {
		return "no row"
	}
	return m[1]
}

// figures finds a row of the table that has a column for each destination.
func figures(out, name string) []string {
	m := regexp.MustCompile(`(?m)^  ` + name + `((?: +[0-9,-]+)+)`).FindStringSubmatch(out)
	if m == nil {
		return nil
	}
	return strings.Fields(m[1])
}

// wantRows checks that a report has figures.
func wantRows(t *testing.T, out string, rows map[string]string) {
	t.Helper()
	for name, want := range rows {
		if got := strings.Join(figures(out, name), " "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestRunFindsEveryLine(t *testing.T) {
	var b bytes.Buffer
	err := Run(context.Background(), small(t.TempDir(), &b))
	out := b.String()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantRows(t, out, map[string]string{
		"requests": "1,000", "logged": "1,012", "delivered": "1,012", "cut off": "0", "spooled": "0", "dropped": "0",
		"lost": "0", "duplicates": "0", "out of order": "0", "invalid": "0", "untrue": "0",
	})
	if got := figure(out, "mallocs per line"); got != "0" && exactMallocs {
		t.Errorf("got %s mallocs per line, want 0", got)
	}
	if got := strings.Count(out, "remote=127.0.0.1:"); got != 3 {
		t.Errorf("%d access lines are shown, want 3", got)
	}
	if strings.Contains(out, "\x1b") {
		t.Error("there are colours, but no terminal")
	}
	_, report, ok := strings.Cut(out, "\nPASS ")
	if !ok {
		t.Errorf("no verdict\n%s", out)
	}
	for line := range strings.SplitSeq(report, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		if regexp.MustCompile(`^  .{17} .{11}$`).MatchString(line) && strings.TrimSpace(line) != "file" {
			t.Errorf("a figure without an explanation: %s", line)
		}
	}
	if !strings.Contains(out, "over 4 connections") || strings.Contains(out, "dialled") {
		t.Error("not every connection was kept alive")
	}
}

// TestRunKillsTheService kills it three times: nothing is lost, neither in the
// file nor in the topic.
func TestRunKillsTheService(t *testing.T) {
	var b bytes.Buffer
	err := Run(context.Background(), Config{
		Requests: 3000, Connections: 4, Kills: 3, Kafka: EmbeddedKafka, calls: 200, Dir: t.TempDir(), Out: &b, Progress: &b,
	})
	out := b.String()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantRows(t, out, map[string]string{
		"spooled": "0 0", "dropped": "0 0", "lost": "0 0", "duplicates": "0 0", "out of order": "0 0", "invalid": "0 0", "untrue": "0 0",
	})
	if strings.Count(out, "kill -9 ") != 3 || strings.Count(out, "back as ") != 3 || !strings.Contains(out, "slowest of 3") {
		t.Errorf("it was not killed three times\n%s", out)
	}
	if logged, delivered := figure(out, "logged"), figures(out, "delivered"); delivered[0] != logged || delivered[1] != logged {
		t.Errorf("%s lines are logged and %v delivered", logged, delivered)
	}
}

func TestRunFailsWhenTheFileIsNotWhatWasLogged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, logName)
	base, err := small(dir, io.Discard).run(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		tamper func(lines [][]byte) [][]byte
		row    string
		want   string
	}{
		{"a line is missing", func(l [][]byte) [][]byte { return append(l[:500], l[501:]...) }, "lost", "1"},
		{"the last line is missing", func(l [][]byte) [][]byte { return l[:len(l)-1] }, "lost", "1"},
		{"all lines are missing", func([][]byte) [][]byte { return nil }, "lost", "1,012"},
		{"a line is there twice", func(l [][]byte) [][]byte { return append(l, l[7]) }, "duplicates", "1"},
		{"a line is late", func(l [][]byte) [][]byte { return append(append(l[:7:7], l[8:]...), l[7]) }, "out of order", "1"},
		{"a line is cut", func(l [][]byte) [][]byte { l[9] = append(l[9][:20:20], '\n'); return l }, "invalid", "1"},
		{"the last line has no end", func(l [][]byte) [][]byte { l[len(l)-1] = bytes.TrimSpace(l[len(l)-1]); return l }, "invalid", "1"},
		{"two lines run together", func(l [][]byte) [][]byte { l[3] = bytes.TrimSpace(l[3]); return l }, "invalid", "1"},
		{"a line of someone else", func(l [][]byte) [][]byte { return append(l, []byte("{\"x\":1}\n")) }, "invalid", "1"},
		{"an empty line", func(l [][]byte) [][]byte { return append(l, []byte("\n")) }, "invalid", "1"},
		{"a request that was never sent", func(l [][]byte) [][]byte {
			return append(l, bytes.Replace(l[len(l)-1], []byte(`"request_id":"c`), []byte(`"request_id":"c9`), 1))
		}, "invalid", "1"},
		{"another status", func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`"status":20`), []byte(`"status":30`), 1)
			return l
		}, "untrue", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := bytes.SplitAfter(bytes.Clone(whole), []byte{'\n'})
			text := bytes.Join(c.tamper(lines[:len(lines)-1]), nil)
			r := base
			r.places = nil
			if err := errors.Join(os.WriteFile(path, text, 0o600), r.readBack(context.Background(), dir, &logTopic{}, false)); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			err := small(dir, &b).conclude(r, dir)
			out := b.String()
			if !errors.Is(err, ErrFile) {
				t.Errorf("got error %v, want ErrFile", err)
			}
			if got := figure(out, c.row); got != c.want {
				t.Errorf("%s: got %s, want %s\n%s", c.row, got, c.want, out)
			}
		})
	}
}

func TestRunFailsWhenLinesWereRefused(t *testing.T) {
	for name, change := range map[string]func(r *result){
		"refused by the spool: 2":     func(r *result) { r.ledger.dropped = 2 },
		"relp: refused: 3":            func(r *result) { r.refused = map[string]uint64{toRELP: 3} },
		"relp: still in the spool: 4": func(r *result) { r.spooled = map[string]uint64{toRELP: 4} },
	} {
		p := plan{requests: 1, connections: 1}
		r := result{plan: p, ledger: newLedger(p), took: time.Second, places: []placed{{toFile, new(check)}, {toRELP, nil}}}
		change(&r)
		var b bytes.Buffer
		if err := small("", &b).conclude(r, ""); !errors.Is(err, ErrFile) || !strings.Contains(b.String(), name) {
			t.Errorf("%s: got error %v, want ErrFile\n%s", name, err, &b)
		}
	}
}

func TestRunKeepsTheFileOnlyInAGivenDirectory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if err := Run(context.Background(), Config{Requests: 20, Connections: 2, Kills: 1, Kafka: NoKafka, calls: 20, Out: new(bytes.Buffer)}); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	dir := filepath.Join(t.TempDir(), "new[1]")
	c := Config{Requests: 20, Connections: 2, Kills: 1, Kafka: NoKafka, calls: 20, Out: new(bytes.Buffer), Dir: dir}
	if err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "."+logName+".claims"), filepath.Join(dir, logName), filepath.Join(dir, spoolName)}
	if left, _ := filepath.Glob(filepath.Join(strings.ReplaceAll(dir, "[", "\\["), "*")); !slices.Equal(left, want) {
		t.Errorf("got %q, want %q", left, want)
	}
	rotated := filepath.Join(dir, "access-1.log")
	err := os.WriteFile(rotated, nil, 0o600)
	if got, err2 := files(dir); err != nil || err2 != nil || !slices.Equal(got, []string{rotated, want[1]}) {
		t.Errorf("got the files %q, %v, %v", got, err, err2)
	}
	if err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("second run in one folder: got error %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(ctx, Config{Requests: 1000, Connections: 2, Kafka: NoKafka, Out: new(bytes.Buffer)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want []string
	}{
		{Config{Requests: 1, Connections: 1, Kafka: NoKafka}, nil},
		{Config{Requests: maxRequests, Connections: maxConnections, Show: maxShow, Kills: maxKills, Kafka: "a:1,b:2", RELP: "c:3"}, nil},
		{Config{Requests: 1, Connections: 1, Kills: -1, Kafka: "a", RELP: "b"}, []string{"-1 kills", "address a:", "address b:"}},
		{Config{}, []string{"0 requests", "0 connections"}},
		{Config{Requests: -1, Connections: 1, Show: -1}, []string{"-1 requests", "-1 show"}},
		{Config{Requests: maxRequests + 1, Connections: maxConnections + 1, Show: maxShow + 1}, []string{"requests", "connections", "show"}},
	} {
		err := c.c.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: got error %v, want %q", c.c, err, c.want)
		}
		for _, w := range c.want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: %q is not in %v", c.c, w, err)
			}
		}
	}
}

// The measurement ends in a spool that has no room for the lines of all rounds.
func TestMeasurementNeedsRoomForOneRound(t *testing.T) {
	done := make(chan error, 1)
	go func() {
		_, err := measure(filepath.Join(t.TempDir(), "replay"), callsPerRound)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("a line waits for room")
	}
}
