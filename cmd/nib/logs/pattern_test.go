// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

// name returns a name without digits.
func name(n int) string {
	text := []byte("name")
	for ; n > 0; n /= 26 {
		text = append(text, 'a'+byte(n%26))
	}
	return string(text)
}

// summary counts messages, one in a second.
func summary(t *testing.T, messages []string) *Summary {
	t.Helper()
	var text strings.Builder
	start := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for i, m := range messages {
		fmt.Fprintf(&text, `{"time":%q,"level":"info","message":%q}`+"\n",
			start.Add(time.Duration(i)*time.Second).Format(time.RFC3339), m)
	}
	sources, err := Find([]string{"-"}, strings.NewReader(text.String()), false, start)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Summarize(t.Context(), sources, Selection{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// shown returns patterns with their numbers of lines.
func shown(list []Group) map[string]uint64 {
	m := map[string]uint64{}
	for _, g := range list {
		m[g.Values[0]] += g.Count
	}
	return m
}

// A word that varies makes one pattern, wherever it is, and few words do not.
func TestAWordThatVariesIsAStar(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	var messages []string
	want := map[string]uint64{}
	add := func(pattern, message string) {
		messages = append(messages, message)
		want[pattern]++
	}
	for i := range 12_000 {
		add("user * logged in", fmt.Sprintf("user %s logged in", name(i)))
		add("* left the room", fmt.Sprintf("%s left the room", name(i)))
		add("file=* of user * saved", fmt.Sprintf("file=%s of user %s saved",
			name(r.IntN(12_000)), name(r.IntN(12_000))))
		add("took *", fmt.Sprint("took ", i, "ms"))
	}
	for i := range 40 {
		text := "failed to " + name(i)
		add(text, text)
		add(text+" it", text+" it")
	}
	r.Shuffle(len(messages), func(i, j int) {
		messages[i], messages[j] = messages[j], messages[i]
	})
	if got := shown(summary(t, messages).Patterns); !maps.Equal(got, want) {
		t.Errorf("got %d: %.2000s", len(got), fmt.Sprint(got))
	}
}

// The result of a join does not depend on the order of the patterns.
func TestTheOrderOfPatternsHasNoEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range 10 {
		var keys []string
		for range 3000 {
			words := make([]string, 1+r.IntN(4))
			for i := range words {
				words[i] = name(r.IntN([]int{3, 60, 70, 300}[r.IntN(4)]))
			}
			keys = append(keys, strings.Join(words, []string{" ", ":"}[r.IntN(2)]))
		}
		want := joinPatterns(keys)
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		if got := joinPatterns(keys); !maps.Equal(got, want) {
			t.Fatalf("got %d keys, want %d", len(got), len(want))
		}
	}
}

// The number of patterns is bounded, and no line is lost.
func TestPatternsAreBounded(t *testing.T) {
	const lines = 2 * maxPatterns
	for _, form := range []string{"%s", "%[1]s:%[1]s", "%s and so on"} {
		var messages []string
		for i := range lines {
			messages = append(messages, fmt.Sprintf(form, name(i)))
		}
		patterns := summary(t, messages).Patterns
		got, all := shown(patterns), uint64(0)
		for _, n := range got {
			all += n
		}
		if len(patterns) > maxPatterns+1 || all != lines {
			t.Errorf("%s: got %d patterns of %d lines", form, len(patterns), all)
		}
		if form == "%s" && got[others] < lines-maxPatterns {
			t.Errorf("got %d others", got[others])
		}
	}
}

// Patterns that only one of two logs has joined are compared as the same.
func TestJoinedPatternsAreCompared(t *testing.T) {
	var now, before []string
	for i := range 3000 {
		now = append(now, fmt.Sprintf("user %s logged in", name(i%100)), "all is well")
		before = append(before, fmt.Sprintf("user %s logged in", name(200+i%20)), "all is well")
	}
	before = append(before, "stopped to work")
	appeared, gone, changed := summary(t, now).Compare(summary(t, before))
	if len(appeared)+len(changed) > 0 || len(gone) != 1 || gone[0].Message != "stopped to work" {
		t.Errorf("got %v, %v, %v", appeared, gone, changed)
	}
}

func TestAddressesAreAStar(t *testing.T) {
	for text, want := range map[string]string{
		"peer fe80::dead:beef is up":    "peer * is up",
		"peer [2001:db8::a:b]:443 left": "peer [*]:* left",
		"peer 10.0.0.1:443 left":        "peer *:* left",
		"at 10:00:00: all":              "at *: all",
		"::1 it is":                     "* it is",
		"add::bad dead:beef:cafe":       "add::bad dead:beef:cafe",
		"a.go:10:5: b":                  "a.go:*: b",
		"12:30":                         "*:*",
		"in 1h2m3.5s or 250µs":          "in * or *",
	} {
		if got := string(appendPattern(nil, []byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
