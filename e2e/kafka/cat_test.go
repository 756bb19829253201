// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/twmb/franz-go/pkg/kgo"
)

// nib cat shows each record of a topic once, in the order of time over all
// partitions, and with since those from a time on.
func TestCatOfATopic(t *testing.T) {
	records := 20_000
	if full() {
		records = 1_000_000
	}
	broker := cluster.Start(t, 1)
	broker.Create("logs", 6)
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(100_000))
	must(t, err)
	defer producer.Close()
	begin := time.Now().Add(-time.Duration(records) * time.Millisecond).Truncate(time.Millisecond)
	for i := range records {
		at := begin.Add(time.Duration(i) * time.Millisecond)
		line := fmt.Appendf(nil, `{"time":%q,"level":"info","message":"request served","path":"/api/orders","status":200,"n":%d}`, at.UTC().Format(time.RFC3339Nano), i)
		producer.Produce(t.Context(), &kgo.Record{Topic: "logs", Partition: int32(i * 7 % 6), Timestamp: at, Value: line}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	must(t, producer.Flush(t.Context()))
	nib := command(t)
	for _, first := range []int{0, records / 2, records - 1, records} {
		since := begin.Add(time.Duration(first) * time.Millisecond).UTC().Format(time.RFC3339Nano)
		cmd := exec.CommandContext(t.Context(), nib, "cat", "-t", "{n}", "kafka://"+strings.Join(broker.Addrs(), ",")+"/logs?since="+since)
		start := time.Now()
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); err != nil && (first < records || code != 1) {
			t.Fatalf("from %d on: %v", first, err)
		}
		want := first
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); want++ {
			if lines.Text() != fmt.Sprint(want) {
				t.Fatalf("from %d on: got record %s, want %d", first, lines.Text(), want)
			}
		}
		if want != records {
			t.Errorf("from %d on: got %d records, want %d", first, want-first, records-first)
		}
		t.Logf("%d records in %v", records-first, time.Since(start).Round(time.Millisecond))
	}
}
