// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/nibtest"
)

func TestConformance(t *testing.T) {
	nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
		c := start(t, 1)
		return dial(t, c, Config{}), func() (lines [][]byte) {
			for _, m := range read(t, c, logs) {
				lines = append(lines, append(m.Value, '\n'))
			}
			return lines
		}
	})
}

func TestDeliver(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{})
	deliver(t, d, records(7, 1, 3000))
	deliver(t, d, records(7, 3001, 3100))
	wantExactly(t, c, 1, 3100)
	if got := d.Stats(); got.Records != 3100 || got.Failures != 0 {
		t.Errorf("Stats: got %+v", got)
	}
}

func TestMessage(t *testing.T) {
	for _, compression := range []string{"lz4", "none", "snappy", "zstd", "gzip"} {
		c := start(t, 1)
		d := dial(t, c, Config{Compression: compression})
		batch := records(0xabc, 5, 104)
		batch[1].Level, batch[1].Logger = nib.LevelError+1, ""
		batch[2].Time = -5
		deliver(t, d, batch)
		all := read(t, c, logs)
		if len(all) != 100 {
			t.Fatalf("compression %s: got %d messages", compression, len(all))
		}
		for i, m := range all {
			r := batch[i]
			if got, want := string(m.Value), strings.TrimSuffix(string(r.Line), "\n"); got != want {
				t.Errorf("value: got %s, want %s", got, want)
			}
			if got, want := m.Time, time.UnixMilli(max(r.Time, 0)/1e6); !got.Equal(want) {
				t.Errorf("time: got %v, want %v", got, want)
			}
		}
		if got := all[0].Headers; len(got) != 5 || got["level"] != "info" || got["logger"] != "db" ||
			got["spool"] != "0000000000000abc" || got["seq"] != "5" || got["time"] != "1700000000005000000" {
			t.Errorf("headers: got %v", got)
		}
		if got := all[1].Headers; len(got) != 4 || got["level"] != "error+1" {
			t.Errorf("headers: got %v", got)
		}
	}
}
