// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/nibtest"
)

// logged makes n lines of about 200 bytes, as a service logs them; each
// hundredth is hostile and each thousandth has some kilobytes.
func logged(n int) []string {
	var rec nibtest.Recorder
	log := nib.NewSink(&rec)
	for i := range n {
		e := log.Info().Int("n", i).Str("method", "GET").Str("path", "/api/v1/orders/4711").Int("status", 200).Dur("took", 1234567)
		if i%100 == 0 {
			e.Str("hostile", "a\nb\t\x00\x1b[31m \u0085 \u202e \ufeff ä€😀 \xff <34>1 - - - \"]").Strs("list", []string{"", "'", `\`})
		}
		if i%1000 == 0 {
			e.Str("stack", strings.Repeat("goroutine 1 [running]:\n", 300))
		}
		e.Msg("request served, as usual")
	}
	return rec.Lines()
}

var networks = []string{"unixgram", "unix", "tcp", "relp"}

// TestE2EArrives sends lines over each transport: all arrive, in order and byte
// by byte.
func TestE2EArrives(t *testing.T) {
	lines := logged(counts(20_000, 200_000))
	for _, network := range append(networks, "tls", "relp+tls") {
		t.Run(network, func(t *testing.T) {
			theirs, mine := servers.RsyslogConfig{MaxMessage: "64k"}, syslog.Config{MaxSize: 60_000, SequenceID: "nib@32473"}
			secure(t, network, "127.0.0.1", &theirs, &mine)
			r := start(t, theirs)
			d := dial(t, network, address(r, network), mine)
			began := time.Now()
			deliver(t, d, lines)
			sent := time.Since(began)
			got := arrived(t, r, len(lines))
			all := time.Since(began)
			if !slices.Equal(got, lines) {
				t.Fatalf("got %d lines, want %d in order, unchanged; %v", len(got), len(lines), count(t, r.Out, len(lines), 0))
			}
			rate := func(d time.Duration) int { return int(float64(len(lines)) / d.Seconds()) }
			t.Logf("%-8s %d lines: accepted %d lines/s, in rsyslog's file %d lines/s", network, len(lines), rate(sent), rate(all))
		})
	}
}

// TestE2EDefaultSizes sends lines of each length around the limits, with
// neither side's limit configured: they arrive as valid JSON, one each.
func TestE2EDefaultSizes(t *testing.T) {
	for _, network := range networks {
		r := start(t, servers.RsyslogConfig{})
		d := dial(t, network, address(r, network), syslog.Config{})
		var lines []string
		for i := range 400 {
			lines = append(lines, fmt.Sprintf(`{"n":%d,"a":"%s"}`, i, strings.Repeat("x", 7800+i)))
		}
		for i := 400; i < 420; i++ {
			lines = append(lines, fmt.Sprintf(`{"n":%d,"a":"%s","b":"%s"}`, i, strings.Repeat("ä", 500*i), strings.Repeat("\\n", 500*i)))
		}
		deliver(t, d, lines)
		cut := 0
		for i, got := range arrived(t, r, len(lines)) {
			var line struct{ N, Truncated int }
			if err := json.Unmarshal([]byte(got), &line); err != nil || line.N != i {
				t.Fatalf("%s: line %d arrives as %.100q… (%v)", network, i, got, err)
			}
			if line.Truncated > 0 {
				cut++
			} else if got != lines[i] {
				t.Fatalf("%s: line %d arrives as %.100q…", network, i, got)
			}
		}
		if st := d.Stats(); cut == 0 || cut == len(lines) || st.Shortened != uint64(cut) {
			t.Errorf("%s: %d of %d lines were cut, the Stats are %+v", network, cut, len(lines), st)
		}
		if text, err := os.ReadFile(r.Self); err == nil && strings.Contains(string(text), "too large") {
			t.Errorf("%s: rsyslog says\n%s", network, text)
		}
	}
}
