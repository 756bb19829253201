// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/dest/kafka/embedded"
)

// topic starts a cluster with a topic and returns a function that adds a record
// to it. The record number n is of 300-n minutes before now.
func topic(t *testing.T, now time.Time) (target string, produce func(n int)) {
	t.Helper()
	cluster, err := embedded.Start(embedded.Config{Topic: "logs", Partitions: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(producer.Close)
	return "kafka://" + strings.Join(cluster.Addrs(), ",") + "/logs", func(i int) {
		r := &kgo.Record{Topic: "logs", Partition: int32(i % 3), Timestamp: now.Add(time.Duration(i-300) * time.Minute)}
		r.Value = fmt.Appendf(nil, `{"time":%q,"level":"info","n":%d}`, r.Timestamp.UTC().Format(time.RFC3339Nano), i)
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATopicIsReadFromATimeOnToItsEnd(t *testing.T) {
	now := time.Now()
	target, produce := topic(t, now)
	for i := range 300 {
		produce(i)
	}
	for since, first := range map[string]int{"": 0, "?since=-100m": 200, "?since=-1m": 299} {
		sources, err := logs.Find([]string{target + since}, nil, false, now)
		if err != nil {
			t.Fatal(err)
		}
		var out, want strings.Builder
		newRenderer, _, err := logs.Form{Template: "{n}"}.NewRenderer()
		if err != nil {
			t.Fatal(err)
		}
		counts, err := logs.Cat(t.Context(), &out, sources, logs.Selection{}, newRenderer)
		for i := first; i < 300; i++ {
			fmt.Fprintln(&want, i)
		}
		if err != nil || out.String() != want.String() || counts.Late != 0 {
			t.Errorf("%s: got %v, %d lines, want %d; %+v", since, err, strings.Count(out.String(), "\n"), 300-first, counts)
		}
	}
}

// A topic that is split continues where it ended, without a gap.
func TestATopicThatIsSplit(t *testing.T) {
	now := time.Now()
	target, produce := topic(t, now)
	for i := range 300 {
		produce(i)
	}
	sources, err := logs.Find([]string{target}, nil, false, now)
	if err != nil {
		t.Fatal(err)
	}
	ended, later, err := logs.Split(sources, logs.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	produce(300)
	newRenderer, _, err := logs.Form{Template: "{n}"}.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	if counts, err := logs.Cat(t.Context(), io.Discard, ended, logs.Selection{}, newRenderer); err != nil || counts.Matched != 300 {
		t.Errorf("got %+v, %v, want 300 lines", counts, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	produce(301)
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		_, err := logs.Follow(ctx, w, later, logs.Selection{}, newRenderer)
		_ = w.CloseWithError(err) // arrives at r
	}()
	got := map[string]bool{}
	for lines := bufio.NewScanner(r); len(got) < 2 && lines.Scan(); {
		got[lines.Text()] = true
	}
	if !maps.Equal(got, map[string]bool{"300": true, "301": true}) {
		t.Errorf("got %v, want 300 and 301", got)
	}
}

func TestTargetsThatAreNoTopics(t *testing.T) {
	for target, want := range map[string]string{
		"kafka://b:9092":                   "write kafka://broker:9092/topic",
		"kafka:///logs":                    "write kafka://broker:9092/topic",
		"kafka://b/logs?until=1h":          "the only parameter is since",
		"kafka://b/logs?since=soon":        "not a time",
		"kafka://b/logs?since=1h&since=2h": "the only parameter is since",
		"kafka://b:9092/logs/x?since=-1h":  "write kafka://broker:9092/topic",
	} {
		_, err := logs.Find([]string{target}, nil, false, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", target, err, want)
		}
	}
}
