// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

func TestValidate(t *testing.T) {
	const least, most = segment.MinSize, segment.MaxSize
	for _, c := range []struct {
		config Config
		want   string // part of the only error
	}{
		{Config{}, ""},
		{Config{Name: "azAZ09-_"}, ""},
		{Config{Layout: nib.Layout{TimeFormat: "YYYY"}}, "TimeFormat"},
		{Config{MinFree: -1}, "MinFree is negative: -1"},
		{Config{MinFree: 1}, ""},
		{Config{SegmentSize: least}, ""},
		{Config{SegmentSize: most}, ""},
		{Config{SegmentSize: least - segment.HeaderSize}, "SegmentSize is not a multiple"},
		{Config{SegmentSize: most + segment.HeaderSize}, "SegmentSize is not a multiple"},
		{Config{SegmentSize: least + 1}, "SegmentSize is not a multiple"},
		{Config{SegmentSize: -least}, "SegmentSize is not a multiple"},
		{Config{Size: 2 * least}, ""},
		{Config{Size: 2*least - 1}, "Size is less than two segments"},
		{Config{Size: 2 * most, SegmentSize: most}, ""},
		{Config{Size: 2*most - 1, SegmentSize: most}, "Size is less than two segments"},
		{Config{Size: -1}, "Size is less than two segments: -1"},
		{Config{Sync: SyncSoon - 1}, "Sync is not one of the policies: -1"},
		{Config{Sync: SyncNever + 1}, "Sync is not one of the policies: 3"},
		{Config{Sync: SyncNever}, ""},
		{Config{SyncDelay: -1}, "SyncDelay is negative: -1ns"},
		{Config{SyncDelay: 1}, ""},
		{Config{SyncDelay: time.Second, Sync: SyncNever}, "SyncDelay of 1s with SyncNever"},
		{Config{SyncWait: -1, Sync: SyncErrors}, "SyncWait is negative: -1ns"},
		{Config{SyncWait: time.Second, Sync: SyncErrors}, ""},
		{Config{SyncWait: time.Second}, "SyncWait of 1s without SyncErrors"},
		{Config{Shared: true}, ""},
		{Config{Adopt: true}, ""},
		{Config{Shared: true, Adopt: true}, "Adopt with Shared"},
		{Config{DeliverOnly: true}, ""},
		{Config{Shared: true, DeliverOnly: true}, "DeliverOnly with Shared"},
		{Config{DeliverOnly: true, OnFull: []FullRule{{}}}, "OnFull with DeliverOnly"},
		{Config{Drain: -1}, "Drain is negative: -1ns"},
		{Config{OnFull: []FullRule{{Do: ActionDropNew}, {1, ActionBlock, 1}, {From: 2, Do: ActionDropOld}, {Do: ActionDropNew}}}, ""},
		{Config{OnFull: []FullRule{{Do: ActionDropNew}, {Do: ActionDropOld}}}, "OnFull has two rules from level info that exclude each other"},
		{Config{OnFull: []FullRule{{Do: ActionDropNew - 1}}}, "OnFull has an unknown action: -1"},
		{Config{OnFull: []FullRule{{Do: ActionDropOld + 1}}}, "OnFull has an unknown action: 3"},
		{Config{OnFull: []FullRule{{Wait: -1}}}, "OnFull has a negative Wait: -1ns"},
		{Config{OnFull: []FullRule{{Wait: 1}}}, "OnFull has Block without Wait, or Wait without Block"},
		{Config{OnFull: []FullRule{{Do: ActionBlock}}}, "OnFull has Block without Wait, or Wait without Block"},
		{Config{Also: []NamedDestination{{"a", &far{}}, {"A", &far{}}}}, `two destinations have the Name "A"`},
	} {
		err := c.config.Validate()
		switch {
		case c.want == "" && err != nil, c.want != "" && err == nil:
			t.Errorf("%+v: got %v, want %q", c.config, err, c.want)
		case err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%+v: got %q, want only %q", c.config, err, c.want)
		}
	}
}

func TestNamesAreOfPlainCharacters(t *testing.T) {
	for _, char := range "`{@[/: .é\x00" {
		name := "a" + string(char)
		if err := (Config{Name: name}).Validate(); err == nil || !strings.Contains(err.Error(), "Name has other characters") {
			t.Errorf("Name %q: got %v", name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	c := Config{}.withDefaults(filepath.Join(dir, "not", "there"))
	if c.Name != "destination" || c.Label != "destination" || c.SyncDelay != defaultSyncDelay || c.SyncWait != defaultSyncWait ||
		c.RejectedSize != defaultRejected || c.Drain != defaultDrain || c.OnError == nil || c.fs == nil {
		t.Errorf("got %+v", c)
	}
	if c.slow != slowDisk || c.hang != hangs || c.tick != firstPause || c.poll != adoptPause || c.boot != vfs.Boot() {
		t.Errorf("got %+v", c)
	}
	if want := store.VolumeOf(dir); c.volume != want {
		t.Errorf("got volume %+v of a directory that will be made, want that of its parent: %+v", c.volume, want)
	}

	given := Config{Name: "a", Label: "b", SyncDelay: 1, SyncWait: 2, RejectedSize: 3, Drain: 4, slow: 5, hang: 6, tick: 7, poll: 8, boot: 9}
	if c := given.withDefaults(""); c.Name != "a" || c.Label != "b" || c.SyncDelay != 1 || c.SyncWait != 2 || c.RejectedSize != 3 || c.Drain != 4 ||
		c.slow != 5 || c.hang != 6 || c.tick != 7 || c.poll != 8 || c.boot != 9 || c.volume != (store.Volume{}) {
		t.Errorf("got %+v of %+v", c, given)
	}
	if c := (Config{fs: vfstest.NewMem(nil)}).withDefaults(dir); c.volume != (store.Volume{}) {
		t.Errorf("got volume %+v of files in memory", c.volume)
	}
	here := store.Volume{Memory: true, Size: 2}
	if c := (Config{volume: here}).withDefaults(dir); c.volume != here {
		t.Errorf("got volume %+v, want the given one", c.volume)
	}
}

func TestWrittenAndSyncFollowTheVolume(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  Config
		written bool
		sync    SyncPolicy
	}{
		{"a disk", Config{}, false, SyncSoon},
		{"a disk, written", Config{Written: true}, true, SyncSoon},
		{"a remote volume", Config{volume: store.Volume{Remote: true}}, true, SyncSoon},
		{"memory", Config{volume: store.Volume{Memory: true}}, false, SyncNever},
	} {
		c.config.fs = vfstest.NewMem(nil)
		if got := c.config.withDefaults(memDir); got.Written != c.written || got.Sync != c.sync {
			t.Errorf("%s: got written %v and sync %v, want %v and %v", c.name, got.Written,
				got.Sync, c.written, c.sync)
		}
	}
}

// TestConfigIsNotChanged checks that rules and destinations are copied: the
// caller may use its slices again, and the rules are sorted.
func TestConfigIsNotChanged(t *testing.T) {
	rules := []FullRule{{From: nib.LevelInfo}, {From: nib.LevelError, Do: ActionDropOld}}
	also := []NamedDestination{{"other", &far{}}}
	c := Config{OnFull: rules, Also: also}.withDefaults("")
	if rules[0].From != nib.LevelInfo || c.OnFull[0].From != nib.LevelError {
		t.Errorf("got rules %+v of %+v", c.OnFull, rules)
	}
	rules[0], rules[1], also[0].Name = FullRule{}, FullRule{}, ""
	if c.OnFull[0].Do != ActionDropOld || c.Also[0].Name != "other" {
		t.Errorf("got %+v and %+v, which the caller has changed", c.OnFull, c.Also)
	}
}

func TestNearest(t *testing.T) {
	dir := t.TempDir()
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	for path, want := range map[string]string{
		dir: dir, filepath.Join(dir, "a"): dir, filepath.Join(dir, "a", "b", "c"): dir,
		root: root, "not there": ".", filepath.Join("not", "there"): ".",
	} {
		if got := nearest(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestGroupLimits(t *testing.T) {
	for text, want := range map[string][]string{
		"":             nil,
		"0::/\n":       {"/sys/fs/cgroup/memory.max"},
		"0::/a/b\n":    {"/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"},
		"0::/a:b\n":    {"/sys/fs/cgroup/a:b/memory.max", "/sys/fs/cgroup/memory.max"},
		"0::x\n":       {"/sys/fs/cgroupx/memory.max"},
		"0::":          {"/sys/fs/cgroup/memory.max"},
		"0:\nmemory\n": nil,
		"3::/m\n":      nil,
		"5:memory:/m\n4:cpu,cpuacct:/m\n1:name=systemd:/\n0:cpu:/\n": {
			"/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
	} {
		if got := groupLimits(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLimitIn(t *testing.T) {
	for text, want := range map[string]int64{
		"1048576\n": 1 << 20, "1": 1, "max\n": math.MaxInt64, "": math.MaxInt64, "0\n": math.MaxInt64, "-1\n": math.MaxInt64,
		"9223372036854771712\n": 9223372036854771712, "18446744073709551615": math.MaxInt64,
	} {
		if got := limitIn(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// TestMemoryOfTheMachine compares with the system, where it tells the size.
func TestMemoryOfTheMachine(t *testing.T) {
	_, err := os.Stat("/proc/meminfo")
	if got := machineMemory(); (got == math.MaxInt64) != (err != nil) || got < 1<<20 {
		t.Errorf("got %d bytes, and %v", got, err)
	}
}

// TestMetricsAreThoseOfStats gives each count a value of its own.
func TestMetricsAreThoseOfStats(t *testing.T) {
	s := open(t, "", &counting{}, Config{})
	await.Until(t, "the next segment is made", func() bool {
		s.chain.Lock()
		defer s.chain.Unlock()
		return s.chain.next != nil
	})
	s.chain.Lock()
	s.chain.stats = Stats{Logged: 11, Notices: 12, Bad: 14, Retired: 15, Unsynced: 16}
	s.chain.reports.failed.Store(13)
	s.chain.bytes, s.chain.limit = 1000, s.c.Size-234
	d := s.chain.Deliveries[0]
	d.Recovered, d.Unfinished, d.Attempts, d.Failures, d.Since = 26, 32, 23, 24, time.Now().Add(-time.Hour)
	d.Dropped.Add(segment.CauseRejected, nib.LevelWarn, 5)
	s.chain.Unlock()
	for name, want := range map[string]float64{
		"nib_spool_lines_total": 11, "nib_spool_notices_total": 12, "nib_spool_errors_total": 13, "nib_spool_quarantined_files_total": 14,
		"nib_spool_retired_segments_total": 15, "nib_spool_unsynced_lines_total": 16, "nib_spool_segments": float64(s.Stats().Segments),
		"nib_spool_disk_bytes": 1234, "nib_spool_recovered_lines_total": 26, "nib_spool_unfinished_lines_total": 32,
		"nib_spool_delivery_attempts_total": 23, "nib_spool_delivery_failures_total": 24, "counting": 25,
	} {
		if got, series := valueOf(s, name); got != want || series != 1 {
			t.Errorf("%s: got %v in %d series, want %v", name, got, series, want)
		}
	}
	reason, level := metrics.Label{Name: "reason", Value: "rejected"}, metrics.Label{Name: "level", Value: "warn"}
	for _, labels := range [][]metrics.Label{nil, {reason}, {level}, {reason, level}} {
		if got, _ := valueOf(s, "nib_spool_dropped_lines_total", labels...); got != 5 {
			t.Errorf("got %v dropped lines with %v, want 5", got, labels)
		}
	}
	if got, _ := valueOf(s, "nib_spool_delivery_busy_seconds"); got < 3600 || got > 7200 {
		t.Errorf("busy for %v s, want 3600", got)
	}
	s.chain.Lock()
	d.Since = time.Time{}
	s.chain.Unlock()
}

// A counting is a destination with a metric.
type counting struct{ far }

func (c *counting) Metrics() iter.Seq[metrics.Metric] {
	return func(yield func(metrics.Metric) bool) { yield(metrics.Metric{Name: "counting", Value: 25}) }
}
