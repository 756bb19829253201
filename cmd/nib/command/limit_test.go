// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A little is a command line and its output.
type little struct {
	args   string // \x00 is a space
	stdout []string
	stderr string
}

const fifth = "panic: no log line"

func left(n, of int) string {
	return fmt.Sprintf("nib: %d of %d selected lines were left out\n", n, of)
}

func checkLittle(t *testing.T, log string, cases []little) {
	t.Helper()
	for _, c := range cases {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\x00", " ")
		}
		code, stdout, stderr := run(append(args, log)...)
		want := strings.Join(append(c.stdout, ""), "\n")
		if code != 0 || stdout != want || stderr != c.stderr {
			t.Errorf("%s: got %d\n%s%swant\n%s%s", c.args, code, stdout, stderr, want, c.stderr)
		}
	}
}

// With --newest, the last lines are shown.
func TestTheNewestLinesAreShown(t *testing.T) {
	checkLittle(t, catLog(t), []little{
		{"cat -n 2 --newest", []string{fourth, fifth}, left(3, 5)},
		// A line that is longer than the limit leaves room for others.
		{fmt.Sprintf("cat -s -l warn --max-bytes %d", len(third)+1), []string{third}, ""},
		{
			fmt.Sprintf("cat -s --newest -q level<=warn --max-bytes %d", len(first)+1),
			[]string{first}, "",
		},
		{"cat -n 5 --newest", []string{first, second, third, fourth, fifth}, ""},
		{"cat --newest", []string{first, second, third, fourth, fifth}, ""},
		{"cat --max-bytes 1 --newest", nil, left(5, 5)},
		{
			fmt.Sprintf("cat --newest --max-bytes %d", len(fourth)+len(fifth)+2),
			[]string{fourth, fifth}, left(3, 5),
		},
		{
			fmt.Sprintf("cat --newest --max-bytes %d", len(fourth)+len(fifth)+1),
			[]string{fifth}, left(4, 5),
		},
	})
}

// The output is bounded, and what is left out is counted.
func TestLittleIsShown(t *testing.T) {
	log := catLog(t)
	around := func(n int) string {
		return fmt.Sprintf("nib: %d lines around selected ones were left out\n", n)
	}
	checkLittle(t, log, []little{
		{"cat -n 2", []string{first, second}, left(3, 5)},
		{"cat -n 5", []string{first, second, third, fourth, fifth}, ""},
		{"cat -n 1 -q exists\x00n -C 1", []string{third, fourth, fifth}, ""},
		{"cat -s -n 1 -l error", []string{third}, ""},
		{
			fmt.Sprintf("cat -l warn -C 1 --max-bytes %d", len(first)+len(second)+2),
			[]string{first, second}, left(2, 3) + around(1),
		},
		{
			fmt.Sprintf("cat -f path=/api/b -C 2 --max-bytes %d", len(first)+len(second)+2),
			[]string{first, second}, around(2),
		},
		{
			fmt.Sprintf("cat --max-bytes %d", len(first)+len(second)+2),
			[]string{first, second}, left(3, 5),
		},
		{fmt.Sprintf("cat --max-bytes %d", len(first)+len(second)+1), []string{first}, left(4, 5)},
		{"cat --max-bytes 1", nil, left(5, 5)},
		{"tail -n 2 --no-follow", []string{fourth, fifth}, ""},
		{"tail -n 9 --no-follow -s -l error", []string{third, fourth}, ""},
		{"tail -n 1 --no-follow -s -l error", []string{fourth}, ""},
		{
			fmt.Sprintf("tail -n 3 --no-follow --max-bytes %d", len(fourth)+len(fifth)+2),
			[]string{fourth, fifth}, left(1, 3),
		},
	})
	for _, args := range []string{
		"cat --max-bytes -1", "cat --newest -n 1 -C 1", "cat --newest --around a",
		"tail --max-bytes 9", "tail --no-follow -n -1",
	} {
		if code, _, stderr := run(append(strings.Fields(args), log)...); code != 2 {
			t.Errorf("%s: got %d and %s, want 2", args, code, stderr)
		}
	}
}

// Several sources have a limit together, and a compressed file has last lines,
// too.
func TestLittleOfSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	a, b := store(t, dir, "a.log", first, third, ""), store(t, dir, "b.log", second, fourth, "")
	code, stdout, stderr := run("cat", "-n", "3", a, b)
	want := strings.Join([]string{first, second, third, ""}, "\n")
	if code != 0 || stdout != want || stderr != "nib: 1 of 4 selected lines were left out\n" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run("cat", "-n", "3", "--newest", a, b)
	want = strings.Join([]string{second, third, fourth, ""}, "\n")
	if code != 0 || stdout != want || stderr != "nib: 1 of 4 selected lines were left out\n" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run("tail", "-n", "1", "--no-follow", a, b)
	if want := third + "\n" + fourth + "\n"; code != 0 || stdout != want || stderr != "" {
		t.Errorf("got %d\n%s%s", code, stdout, stderr)
	}
}

// nib stat shows the groups and messages that fit, a comparison before the
// rest, and counts the others.
func TestStatFitsItsLimit(t *testing.T) {
	dir := t.TempDir()
	var now, before []string
	for i := range 40 {
		kind := string(rune('a'+i/26)) + string(rune('a'+i%26))
		for range 40 - i {
			now = append(now, fmt.Sprintf(`{"level":"info","message":"now %s","kind":%q}`, kind, kind))
		}
		before = append(before, fmt.Sprintf(`{"level":"info","message":"before %s"}`, kind))
	}
	log := store(t, dir, "app.log", append(now, "")...)
	old := store(t, dir, "old.log", append(before, "")...)
	type list struct {
		Messages []struct{ Message, Sample string }
		LeftOut  int `json:"left_out"`
	}
	last, most := [3]int{}, 0
	for limit := 1000; limit < 20000; limit += 3000 {
		args := []string{
			"stat", "--by", "kind", "--top", "30", "--max-bytes", fmt.Sprint(limit), "--against", old,
		}
		text := want(t, append(args, log)...)
		if len(text) > limit || !strings.Contains(text, "more\n") {
			t.Errorf("%d: got %d bytes\n%s", limit, len(text), text)
		}
		text = want(t, append(args, "--json", log)...)
		var got struct {
			Groups, Messages []json.RawMessage
			GroupsLeft       int `json:"groups_left_out"`
			MessagesLeft     int `json:"messages_left_out"`
			Against          struct{ New, Gone list }
		}
		must(t, json.Unmarshal([]byte(text), &got))
		appeared, gone := got.Against.New, got.Against.Gone
		shown := [3]int{len(got.Messages), len(appeared.Messages), len(gone.Messages)}
		if len(text) > limit || len(got.Groups)+got.GroupsLeft != 40 ||
			shown[0]+got.MessagesLeft != 40 || shown[1]+appeared.LeftOut != 40 ||
			shown[2]+gone.LeftOut != 40 {
			t.Errorf("%d: got %d bytes: %s", limit, len(text), text)
		}
		if shown[0] > 0 && shown[1] < 30 || shown[1] != shown[2] ||
			shown[0] < last[0] || shown[1] < last[1] {
			t.Errorf("%d: got %v after %v", limit, shown, last)
		}
		last, most = shown, len(text)
	}
	if last != [3]int{30, 30, 30} || most > 20000 {
		t.Errorf("got %v in %d bytes", last, most)
	}
	code, _, stderr := run("stat", "--max-bytes", "9", log)
	if code != 2 || !strings.HasPrefix(stderr, "nib: --max-bytes: the counts alone need ") {
		t.Errorf("got %d and %s", code, stderr)
	}
	if code, _, _ := run("stat", "--max-bytes", "-1", log); code != 2 {
		t.Errorf("got %d, want 2", code)
	}
}
