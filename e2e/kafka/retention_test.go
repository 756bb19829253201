// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Everything that a topic has is deleted while a service is down that has
// records left. The next one goes on at the first offset that there is, and
// sends all that it does not find.
func TestRetentionPassesTheMark(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	brokers := cluster.Start(t, 1)
	brokers.Create("logs", 1)
	dir := t.TempDir()
	cmd, calls := service(t, brokers.Addrs(), dir, "default", "0")
	go func() {
		for n := 0; n == 0 && t.Context().Err() == nil; {
			_ = topic.Read(t.Context(), brokers.Addrs(), "logs", func(topic.Message) bool { n++; return false }) // again if it fails
		}
		brokers.Kill(0)
		time.Sleep(time.Second) // it continues to log
		_ = cmd.Process.Kill()
	}()
	returned := returnedBy(cmd, calls, func() {})
	brokers.Run(0)
	brokers.AwaitReady()
	brokers.AwaitReplicas("logs", 1)
	deleted := deleteRecords(t, brokers.Addrs())
	last, out := service(t, brokers.Addrs(), dir, "default", "")
	timer := time.AfterFunc(5*time.Minute, func() { _ = last.Process.Kill() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, out)
	if err := last.Wait(); err != nil {
		t.Fatalf("nothing was delivered within five minutes: %v", err)
	}
	var first, before, count int
	err := topic.Read(t.Context(), brokers.Addrs(), "logs", func(m topic.Message) bool {
		n, err := strconv.Atoi(m.Headers["seq"])
		must(t, err)
		if before > 0 && n != before+1 {
			t.Errorf("number %d comes after %d", n, before)
		}
		if first == 0 {
			first = n
		}
		before = n
		count++
		return true
	})
	must(t, err)
	t.Logf("%d calls returned, %d records deleted, then numbers %d to %d", returned, deleted, first, before)
	if before < returned || count == 0 || deleted == 0 || first > deleted {
		t.Errorf("not all records are there that were not deleted")
	}
}

// deleteRecords deletes all records of the topic logs. The last record is
// another program's.
func deleteRecords(t *testing.T, addrs []string) (deleted int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	must(t, err)
	defer cl.Close()
	must(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: "logs", Value: []byte("{}")}).FirstErr())
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	part := kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Offset = -1 // the end
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "logs", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{part}}}
	resp, err := req.RequestWith(t.Context(), cl)
	must(t, err)
	p := resp.Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		t.Fatalf("delete records: code %d", p.ErrorCode)
	}
	return int(p.LowWatermark)
}
