// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/dest/kafka/embedded"
)

func TestATopicIsReadFromATimeOnToItsEnd(t *testing.T) {
	cluster, err := embedded.Start(embedded.Config{Topic: "logs", Partitions: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	now := time.Now()
	for i := range 300 {
		r := &kgo.Record{Topic: "logs", Partition: int32(i % 3), Timestamp: now.Add(time.Duration(i-300) * time.Minute)}
		r.Value = fmt.Appendf(nil, `{"time":%q,"level":"info","n":%d}`, r.Timestamp.UTC().Format(time.RFC3339Nano), i)
		if err := producer.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for since, first := range map[string]int{"": 0, "?since=-100m": 200, "?since=-1m": 299} {
		target := "kafka://" + strings.Join(cluster.Addrs(), ",") + "/logs" + since
		sources, err := logs.Find([]string{target}, nil, false, now)
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
