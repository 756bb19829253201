// SPDX-License-Identifier: Apache-2.0

// Package topic creates and reads topics, for demonstrations and tests.
package topic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Message is a record of a topic.
type Message struct {
	Partition int32
	Offset    int64
	Time      time.Time
	Key       []byte
	Value     []byte
	Headers   map[string]string
}

// Create creates a topic. It returns nil if the topic already exists.
func Create(ctx context.Context, brokers []string, name string, partitions, replicas int) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return fmt.Errorf("nib/kafka/topic: %w", err)
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), int16(replicas)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("nib/kafka/topic: create %s: %w", name, err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil &&
			!errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("nib/kafka/topic: create %s: %w", name, err)
		}
	}
	return nil
}

// Read calls f with the messages in the topic, in order for each partition,
// until f returns false. It skips uncommitted messages.
func Read(ctx context.Context, brokers []string, name string, f func(Message) bool) error {
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.ConsumeTopics(name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxBytes(8<<20),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.KeepControlRecords(), // the last records may be control records
	)
	if err != nil {
		return fmt.Errorf("nib/kafka/topic: %w", err)
	}
	defer cl.Close()
	left, err := ends(ctx, cl, name)
	if err != nil {
		return fmt.Errorf("nib/kafka/topic: read %s: %w", name, err)
	}
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("nib/kafka/topic: read %s: %w", name, err)
		}
		for r := range fetches.RecordsAll() {
			end, ok := left[r.Partition]
			if !ok || r.Offset >= end {
				continue
			}
			if r.Offset == end-1 {
				delete(left, r.Partition)
			}
			if !r.Attrs.IsControl() && !f(message(r)) {
				return nil
			}
		}
	}
	return nil
}

func message(r *kgo.Record) Message {
	m := Message{Partition: r.Partition, Offset: r.Offset, Time: r.Timestamp, Key: r.Key,
		Value: r.Value}
	if len(r.Headers) > 0 {
		m.Headers = make(map[string]string, len(r.Headers))
	}
	for _, h := range r.Headers {
		m.Headers[h.Key] = string(h.Value)
	}
	return m
}

// ends requests the end offsets of the partitions that are not empty.
func ends(ctx context.Context, cl *kgo.Client, name string) (map[int32]int64, error) {
	meta := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(name)
	meta.Topics = append(meta.Topics, t)
	where, err := meta.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, 1
	for _, t := range where.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, err
		}
		topic := kmsg.NewListOffsetsRequestTopic()
		topic.Topic = name
		for _, p := range t.Partitions {
			part := kmsg.NewListOffsetsRequestTopicPartition()
			part.Partition, part.Timestamp = p.Partition, -1
			topic.Partitions = append(topic.Partitions, part)
		}
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	ends := map[int32]int64{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, err
			}
			if p.Offset > 0 {
				ends[p.Partition] = p.Offset
			}
		}
	}
	return ends, nil
}
