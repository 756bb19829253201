// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// history returns lines of two hours: in the second one there are failures, a
// message is gone, another is ten times as frequent, and one is as frequent.
func history() (lines []string) {
	begin := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for i := range 7200 {
		at := begin.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		add := func(level, message string) {
			lines = append(lines, fmt.Sprintf(
				`{"time":%q,"level":%q,"message":"%s %d"}`, at, level, message, i))
		}
		add("info", "request")
		if later := i >= 3600; later && i%60 == 0 {
			add("error", "payment failed")
		} else if !later && i%60 == 0 {
			add("info", "cache filled")
		}
		if i%100 == 0 || i >= 3600 && i%10 == 0 {
			add("warn", "retry")
		}
	}
	return append(lines, "")
}

func TestStatAgainst(t *testing.T) {
	lines := history()
	dir := t.TempDir()
	log := store(t, dir, "app.log", lines...)
	early := store(t, dir, "early.log", append(lines[:3600:3600], "")...)
	const since = "2026-11-20T11:00:00Z"
	want := map[string]string{
		"new": "[payment failed * 60 0]", "gone": "[cache filled * 0 60]",
		"changed": "[retry * 360 36]",
	}
	for _, against := range []string{early, "2026-11-20T10:00:00Z.." + since} {
		code, stdout, stderr := run("stat", "--json", "--since", since, "--against", against, log)
		var got struct {
			Against map[string]json.RawMessage `json:"against"`
		}
		if err := json.Unmarshal([]byte(stdout), &got); code != 0 || err != nil || stderr != "" {
			t.Fatalf("%s: got %d, %v, %s%s", against, code, err, stdout, stderr)
		}
		for part, want := range want {
			var list struct {
				Messages []struct {
					Message string `json:"message"`
					Lines   int    `json:"lines"`
					Before  int    `json:"lines_before"`
				} `json:"messages"`
			}
			must(t, json.Unmarshal(got.Against[part], &list))
			text := fmt.Sprint(list.Messages)
			if against == early { // it ends before the hour does
				want = want[:strings.LastIndexByte(want, ' ')]
			}
			if len(list.Messages) != 1 || !strings.Contains(text, strings.Trim(want, "[]")) {
				t.Errorf("%s, %s: got %s, want %s", against, part, text, want)
			}
		}
	}
	code, stdout, _ := run("stat", "--since", since, "--against", early, log)
	for _, part := range []string{"new", "gone", "more or less frequent"} {
		if code != 0 || !strings.Contains(stdout, "\n"+part+", lines a minute before and now\n") {
			t.Errorf("got %d and %s, want %q", code, stdout, part)
		}
	}
	for _, args := range [][]string{
		{"--against", "none.log", log}, {"--against", "soon..later", log},
		{"--against", "-2h..-1h"},
	} {
		if code, _, stderr := run(append([]string{"stat"}, args...)...); code != 2 ||
			!strings.HasPrefix(stderr, "nib: --against: ") {
			t.Errorf("%q: got %d and %s", args, code, stderr)
		}
	}
	const instead = ": write 2026-11-21T09:30:00Z, 14:30, yesterday or -3h\n"
	const bad = "nib: --against: --since: \"soon\" is not a time" + instead +
		"nib: --against: --until: \"later\" is not a time" + instead
	if _, _, stderr := run("stat", "--against", "soon..later", log); stderr != bad {
		t.Errorf("got %s, want %s", stderr, bad)
	}
}

// The JSON has everything that the text has, and the cause of the failures is
// found in little output.
func TestStatJSONIsComplete(t *testing.T) {
	log := store(t, t.TempDir(), "app.log", history()...)
	_, stdout, _ := run("stat", "--json", "--top", "2", log)
	var got struct {
		Messages []struct {
			Message, Sample string
			First, Last     time.Time
		}
		LeftOut  int `json:"messages_left_out"`
		OverTime struct {
			PartSeconds      float64 `json:"part_seconds"`
			All, Warn, Error []int
		} `json:"over_time"`
	}
	must(t, json.Unmarshal([]byte(stdout), &got))
	sum := func(list []int) (n int) {
		for _, v := range list {
			n += v
		}
		return n
	}
	o := got.OverTime
	if sum(o.All) != 7716 || sum(o.Warn) != 396 || sum(o.Error) != 60 || len(o.All) != 60 ||
		o.PartSeconds < 119 || o.PartSeconds > 120 {
		t.Errorf("over time: got %+v", o)
	}
	if len(got.Messages) != 2 || got.LeftOut != 2 || got.Messages[1].Message != "retry *" {
		t.Fatalf("got %+v", got)
	}
	m := got.Messages[0]
	if m.Sample != strings.Split(strings.Join(history(), "\n"), "\n")[0] ||
		m.First.Format(time.TimeOnly) != "10:00:00" || m.Last.Format(time.TimeOnly) != "11:59:59" {
		t.Errorf("got %+v", m)
	}
	if len(stdout) > 4000 {
		t.Errorf("got %d bytes", len(stdout))
	}
}
