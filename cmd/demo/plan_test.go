// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

func TestPlanDealsOutAllRequests(t *testing.T) {
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

func TestParseIDTakesOnlyWhatRequestIDGives(t *testing.T) {
	p := plan{requests: 100, connections: 2}
	for _, c := range []struct {
		id            string
		connection, n int
		ok            bool
	}{
		{"c0-0", 0, 0, true}, {"c1-49", 1, 49, true},
		{"c1-50", 0, 0, false}, {"c2-0", 0, 0, false}, {"c-1-0", 0, 0, false}, {"c0--1", 0, 0, false},
		{"0-0", 0, 0, false}, {"cc0-0", 0, 0, false}, {"c00-0", 0, 0, false}, {"c0-+1", 0, 0, false}, {"c0-1x", 0, 0, false}, {"", 0, 0, false},
	} {
		connection, n, ok := p.parseID(c.id)
		if ok != c.ok || ok && (connection != c.connection || n != c.n) {
			t.Errorf("parseID(%q): got %d, %d, %v; want %d, %d, %v", c.id, connection, n, ok, c.connection, c.n, c.ok)
		}
	}
}

func TestExactShowsTheRarestMalloc(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 1: "1", 1.0 / callsPerRound: "0.0001", 0.5: "0.5"} {
		if got := exact(n); got != want {
			t.Errorf("exact(%v): got %s, want %s", n, got, want)
		}
	}
}

func TestBarFitsTheTerminal(t *testing.T) {
	b := bar{total: 50_000, done: new(atomic.Int64)}
	for width := range 120 {
		for _, done := range []int64{0, 1, 25_000, 50_000} {
			if got := b.picture(done, time.Second, width); utf8.RuneCountInString(got) > max(0, width-1) {
				t.Errorf("width %d: got %d columns: %q", width, utf8.RuneCountInString(got), got)
			}
		}
	}
	got := b.picture(25_000, time.Second, 100)
	if !strings.Contains(got, strings.Repeat("━", 20)+strings.Repeat("─", 20)) || !strings.Contains(got, " 50 %  25,000 of 50,000  25,000/s") {
		t.Errorf("half-way: got %q", got)
	}
}
