// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/sink/spool"
)

// TestCopiesOfASpoolLoseNoLineEmbedded lets a spool and a copy of it, both with
// a backlog, deliver to one topic at the same time (reliability row 41).
func TestCopiesOfASpoolLoseNoLineEmbedded(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "logs"))
	must(t, err)
	defer c.Close()
	home := t.TempDir()
	dir, twin := filepath.Join(home, "one"), filepath.Join(home, "two")
	s := openOn(t, c, dir)
	logLines(s, "before", 0, 100)
	flush(t, s)
	must(t, s.Close())
	if s, err = spool.Open(dir, nil, spool.Config{}); err != nil {
		t.Fatal(err)
	}
	logLines(s, "backlog", 0, 100)
	must(t, s.Close(), os.Mkdir(twin, 0o700), os.CopyFS(twin, os.DirFS(dir)))

	one, two := openOn(t, c, dir), openOn(t, c, twin)
	for n := 0; n < 100; n += 10 {
		logLines(one, "one", n, n+10)
		flush(t, one)
		logLines(two, "two", n, n+10)
		flush(t, two)
	}
	must(t, one.Close(), two.Close())
	got := countLines(t, c)
	for name, most := range map[string]int{"before": 1, "backlog": 2, "one": 1, "two": 1} {
		for n := range 100 {
			if line := fmt.Sprint(name, n); got[line] < 1 || got[line] > most {
				t.Errorf("%s: got it %d times, want 1 to %d", line, got[line], most)
			}
		}
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// openOn opens a spool that delivers to the topic.
func openOn(t *testing.T, c *kfake.Cluster, dir string) *spool.Sink {
	t.Helper()
	d, err := kafka.New(c.ListenAddrs(), "logs", kafka.Config{TakeoverDelay: 10 * time.Millisecond})
	must(t, err)
	s, err := spool.Open(dir, d, spool.Config{OnFull: patient})
	must(t, err)
	t.Cleanup(func() { _, _ = s.Close(), d.Close() }) // again, if the test got so far
	return s
}

// logLines logs the numbers from one to before another.
func logLines(s *spool.Sink, name string, from, to int) {
	log := nib.NewSink(s)
	for n := from; n < to; n++ {
		log.Info().Msg(fmt.Sprint(name, n))
	}
}

func flush(t *testing.T, s *spool.Sink) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	must(t, s.Flush(ctx))
}

// countLines returns how often each message is in the topic.
func countLines(t *testing.T, c *kfake.Cluster) map[string]int {
	t.Helper()
	end := int64(0)
	for p := range int32(1) {
		end += c.PartitionInfo("logs", p).HighWatermark
	}
	r, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("logs"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	must(t, err)
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	got := map[string]int{}
	for seen := int64(0); seen < end; {
		fetches := r.PollFetches(ctx)
		must(t, fetches.Err())
		for _, record := range fetches.Records() {
			var line struct{ Message, Msg string }
			must(t, json.Unmarshal(record.Value, &line))
			got[line.Message+line.Msg]++
			seen = record.Offset + 1
		}
	}
	return got
}
