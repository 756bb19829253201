// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/nib-log/nib/internal/logread"
)

// kafkaTimeout bounds the calls that do not read records.
const kafkaTimeout = 15 * time.Second

// kafkaSources returns the partitions of a topic, given as
// kafka://broker:9092,broker:9092/topic?since=-1h, as sources to be merged by
// time. With follow they never end, and begin now if there is no since.
func kafkaSources(text string, follow bool, now time.Time) ([]Source, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	topic := strings.Trim(u.Path, "/")
	if u.Host == "" || topic == "" || strings.Contains(topic, "/") {
		return nil, fmt.Errorf("%s: write kafka://broker:9092/topic?since=-1h", text)
	}
	var since time.Time
	for name, values := range u.Query() {
		if name != "since" || len(values) != 1 {
			return nil, fmt.Errorf("%s: the only parameter is since, once", text)
		}
		if since, err = logread.ParseMoment(values[0], now); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	if since.IsZero() && follow {
		since = now
	}
	brokers := strings.Split(u.Host, ",")
	for i, b := range brokers {
		if !strings.Contains(b, ":") {
			brokers[i] = b + ":9092"
		}
	}
	ranges, err := kafkaRanges(brokers, topic, since)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	var list []Source
	for _, r := range ranges {
		r.follow = follow
		name := fmt.Sprintf("%s, partition %d", text, r.partition)
		list = append(list, Source{
			Name: name, Live: true, Open: r.open,
			split: func(Selection) (Source, Source, error) { return r.split(name) },
		})
	}
	return list, nil
}

// A kafkaRange is a part of a partition.
type kafkaRange struct {
	brokers    []string
	topic      string
	partition  int32
	start, end int64
	follow     bool
}

// kafkaRanges asks for the offsets of all partitions: from a time on, to the
// end that they have now.
func kafkaRanges(brokers []string, topic string, since time.Time) (list []kafkaRange, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), kafkaTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	var starts kadm.ListedOffsets
	if since.IsZero() {
		starts, err = admin.ListStartOffsets(ctx, topic)
	} else {
		starts, err = admin.ListOffsetsAfterMilli(ctx, since.UnixMilli(), topic)
	}
	if err = errors.Join(err, starts.Error()); err != nil {
		return nil, err
	}
	ends, err := admin.ListCommittedOffsets(ctx, topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		return nil, err
	}
	ends.Each(func(end kadm.ListedOffset) {
		if start, ok := starts.Lookup(topic, end.Partition); ok {
			list = append(list, kafkaRange{brokers: brokers, topic: topic, partition: end.Partition,
				start: start.Offset, end: end.Offset})
		}
	})
	slices.SortFunc(list, func(a, b kafkaRange) int { return int(a.partition - b.partition) })
	return list, nil
}

// open reads the range with a separate client, so that a partition that is not
// being read does not block the others.
func (k kafkaRange) open(ctx context.Context) (io.ReadCloser, error) {
	if k.start >= k.end && !k.follow {
		return io.NopCloser(strings.NewReader("")), nil
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(k.brokers...),
		kgo.ConsumePartitions(
			map[string]map[int32]kgo.Offset{k.topic: {k.partition: kgo.NewOffset().At(k.start)}}),
		kgo.FetchMaxBytes(8<<20), kgo.MaxConcurrentFetches(1),
		// The end of a transaction is a record, too, and may be the last one.
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
	)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		err := k.copy(ctx, client, w)
		client.Close()
		_ = w.CloseWithError(err) // arrives at r
	}()
	return r, nil
}

// copy writes the values of the records, each as a line.
func (k kafkaRange) copy(ctx context.Context, client *kgo.Client, w io.Writer) error {
	var buf []byte
	for next := k.start; k.follow || next < k.end; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return err
		}
		for _, e := range fetches.Errors() {
			return e.Err
		}
		buf = buf[:0]
		fetches.EachRecord(func(r *kgo.Record) {
			if next = r.Offset + 1; !r.Attrs.IsControl() && (k.follow || r.Offset < k.end) {
				buf = append(buf, r.Value...)
				if n := len(r.Value); n == 0 || r.Value[n-1] != '\n' {
					buf = append(buf, '\n')
				}
			}
		})
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
