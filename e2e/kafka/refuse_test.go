// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A broker refuses everything for a reason that can be fixed: nothing is
// rejected, and everything arrives after the fix, or at once in the dead letter
// topic.
func TestEverythingRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	brokers := cluster.Start(t, 1)
	for _, c := range []struct {
		name             string
		key, wrong, mend string
		ahead            time.Duration // of the records' clock
	}{
		{"clock ahead", "message.timestamp.after.max.ms", "3600000", "9223372036854775807", 2 * time.Hour},
		{"clock behind", "message.timestamp.before.max.ms", "3600000", "9223372036854775807", -2 * time.Hour},
		{"compacted", "cleanup.policy", "compact", "delete", 0},
		{"size limit", "max.message.bytes", "100", "1048588", 0},
	} {
		for _, dead := range []string{"", "dead"} {
			t.Run(c.name+dead, func(t *testing.T) {
				name := fmt.Sprintf("%s%s%s", c.key, dead, c.wrong)
				create(t, brokers, name, c.key, c.wrong)
				want := name
				if dead != "" {
					dead, want = name+"-dead", name+"-dead"
					brokers.Create(dead, 1)
				}
				d, err := kafka.New(brokers.Addrs(), name, kafka.Config{DeadLetter: dead})
				must(t, err)
				defer d.Close()
				var batch []nib.Record
				for n := range uint64(500) {
					batch = append(batch, nib.Record{
						Time: time.Now().Add(c.ahead).UnixNano(), Level: nib.LevelInfo, Spool: 7, Seq: n + 1,
						Line: fmt.Appendf(nil, `{"level":"info","n":%d,"message":"a line that is longer than the limit of the topic, uncompressed and compressed"}`+"\n", n),
					})
				}
				accepted := 0
				for n := 0; n < 5 && accepted == 0; n++ {
					res, err := d.Deliver(t.Context(), batch)
					accepted = res.Accepted
					if dead == "" && (accepted > 0 || err == nil) || len(res.Rejected) > 0 {
						t.Errorf("got %+v, %v; want that all wait", res, err)
					}
				}
				if dead == "" {
					alter(t, brokers.Addrs(), name, c.key, c.mend)
				}
				deliverAll(t, d, batch[accepted:])
				n := 0
				must(t, topic.Read(t.Context(), brokers.Addrs(), want,
					func(topic.Message) bool { n++; return true }))
				if n != len(batch) {
					t.Errorf("%s has %d of %d records", want, n, len(batch))
				}
			})
		}
	}
}

// deliverAll delivers records, and fails the test if one is rejected.
func deliverAll(t *testing.T, d *kafka.Destination, batch []nib.Record) {
	t.Helper()
	for late := time.Now().Add(5 * time.Minute); len(batch) > 0; {
		res, err := d.Deliver(t.Context(), batch)
		if len(res.Rejected) > 0 || err != nil && time.Now().After(late) {
			t.Fatalf("got %d accepted, %d rejected, %v", res.Accepted, len(res.Rejected), err)
		}
		batch = batch[res.Accepted:]
	}
}

// create makes a topic with a configuration, which is in effect from the
// beginning. A change comes into effect later.
func create(t *testing.T, brokers *cluster.Cluster, name, key, value string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers.Addrs()...))
	must(t, err)
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	topic, conf := kmsg.NewCreateTopicsRequestTopic(), kmsg.NewCreateTopicsRequestTopicConfig()
	conf.Name, conf.Value = key, &value
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
	topic.Configs = append(topic.Configs, conf)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), cl)
	must(t, err)
	if code := resp.Topics[0].ErrorCode; code != 0 {
		t.Fatalf("create %s: code %d", name, code)
	}
	brokers.AwaitReplicas(name, 1)
}

// alter sets a configuration of a topic.
func alter(t *testing.T, addrs []string, name, key, value string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	must(t, err)
	defer cl.Close()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r, conf := kmsg.NewIncrementalAlterConfigsRequestResource(), kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, name
	conf.Name, conf.Value = key, &value
	r.Configs = append(r.Configs, conf)
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(t.Context(), cl)
	must(t, err)
	if code := resp.Resources[0].ErrorCode; code != 0 {
		t.Fatalf("alter %s of %s: code %d", key, name, code)
	}
}
