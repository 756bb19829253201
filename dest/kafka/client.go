// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// versions limits the versions of the protocol. In these versions topics are
// identified by name, and a transaction keeps the epoch of its producer. All
// brokers from 2.5 to 4 support them.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.Produce.Int16(), 11)
	v.SetMaxKeyVersion(kmsg.Fetch.Int16(), 12)
	v.SetMaxKeyVersion(kmsg.AddPartitionsToTxn.Int16(), 3)
	v.SetMaxKeyVersion(kmsg.EndTxn.Int16(), 4)
	v.SetMaxKeyVersion(kmsg.InitProducerID.Int16(), 4)
	return v
}

// A cluster is the connection to the brokers that have the topic.
type cluster struct {
	c          *Config
	brokers    []string
	topic      string
	client     *kgo.Client
	compressor kgo.Compressor
	decompress kgo.Decompressor // bounded
	wrote      chan struct{}    // receives a value when a produce request was written
}

// newCluster does not connect: the client does when it is first used.
func newCluster(brokers []string, topic string, c *Config) (k cluster, err error) {
	k = cluster{c: c, brokers: slices.Clone(brokers), topic: topic, wrote: make(chan struct{}, 1)}
	if k.compressor, err = kgo.DefaultCompressor(codecs[c.Compression]); err != nil {
		return k, err
	}
	if k.client, err = newClient(brokers, c, writeHook(k.wrote)); err != nil {
		return k, err
	}
	// The decompressor of the client has the bound.
	k.decompress, _ = k.client.OptValue(kgo.WithDecompressor).(kgo.Decompressor)
	return k, nil
}

// newClient makes a client with the options of c.
func newClient(brokers []string, c *Config, hook kgo.Hook) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(brokers...),
		kgo.ClientID(c.ClientID),
		kgo.MaxVersions(versions()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RequestTimeoutOverhead(max(c.Timeout, time.Second)),
		kgo.DialTimeout(max(c.Timeout, time.Second)),
		kgo.RequestRetries(1), // Deliver repeats
		kgo.MetadataMinAge(50 * time.Millisecond),
		kgo.DisableClientMetrics(),
		kgo.MaxDecompressBatchBytes(mostPlain(c)),
		kgo.WithHooks(hook),
	}
	switch {
	case c.certificates != nil:
		opts = append(opts, kgo.Dialer(c.certificates.dialer(max(c.Timeout, time.Second))))
	case c.TLS != nil:
		opts = append(opts, kgo.DialTLSConfig(c.TLS.Clone()))
	}
	if c.SASL != nil {
		opts = append(opts, kgo.SASL(c.SASL.mechanism()))
	}
	return kgo.NewClient(opts...)
}

// mostPlain returns the maximum decompressed size of a batch that is read,
// since other programs may have written anything. A batch of nib is longer only
// if it is a single record.
func mostPlain(c *Config) int { return 16 * max(c.MaxBatch, defaultMaxBatch) }

// A writeHook signals when a produce request is written to its connection, so
// that the next one is written after it.
type writeHook chan<- struct{}

// OnBrokerWrite is called by franz-go.
func (h writeHook) OnBrokerWrite(
	_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error,
) {
	if key != kmsg.Produce.Int16() {
		return
	}
	select {
	case h <- struct{}{}:
	default:
	}
}

func (s *SASL) mechanism() sasl.Mechanism {
	auth := scram.Auth{User: s.User, Pass: s.Password}
	switch s.Mechanism {
	case scramSHA256:
		return auth.AsSha256Mechanism()
	case scramSHA512:
		return auth.AsSha512Mechanism()
	default:
		return plain.Auth{User: s.User, Pass: s.Password}.AsMechanism()
	}
}

// A layout describes a topic: it has the broker that leads each of its
// partitions.
type layout struct {
	id      [16]byte // zero with brokers before 2.8
	leaders []int32  // node ids by partition; -1 for a partition without a leader
}

// ask sends a request to a broker. If to is the client, that is any broker, or
// the one responsible for that kind of request.
func ask[R kmsg.Response](
	ctx context.Context, c *Config, to kmsg.Requestor, req kmsg.Request,
) (R, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	resp, err := to.Request(ctx, req)
	r, ok := resp.(R)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	} else if err == nil && !ok {
		err = fmt.Errorf("the answer is a %T", resp)
	}
	if err != nil {
		return r, fmt.Errorf("nib/kafka: %s: %w", kmsg.NameForKey(req.Key()), err)
	}
	return r, nil
}

// lookup requests the leaders of the partitions of a topic.
func (k *cluster) lookup(ctx context.Context, topic string) (layout, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	req.AllowAutoTopicCreation = k.c.CreateTopic
	resp, err := ask[*kmsg.MetadataResponse](ctx, k.c, k.client, req)
	if err != nil {
		return layout{}, err
	}
	return layoutOf(resp, topic, k.c.CreateTopic)
}

// layoutOf returns the layout of a topic from a response, which may have other
// topics.
func layoutOf(resp *kmsg.MetadataResponse, topic string, create bool) (layout, error) {
	for _, t := range resp.Topics {
		if t.Topic == nil || *t.Topic != topic {
			continue
		}
		err := brokerError("look up topic", topic, t.ErrorCode, nil)
		if t.ErrorCode == kerr.UnknownTopicOrPartition.Code && !create {
			err = fmt.Errorf("%w: check its name, create it, or set Config.CreateTopic", err)
		}
		if err != nil {
			return layout{}, err
		}
		l := layout{id: t.TopicID, leaders: make([]int32, len(t.Partitions))}
		for i := range l.leaders {
			l.leaders[i] = -1
		}
		for _, p := range t.Partitions {
			if p.Partition >= 0 && int(p.Partition) < len(l.leaders) {
				l.leaders[p.Partition] = p.Leader
			}
		}
		if len(l.leaders) > 0 {
			return l, nil
		}
	}
	return layout{}, fmt.Errorf("nib/kafka: look up topic %s: no partitions", topic)
}

// A producer is the sender of batches, in Kafka's terms. Each partition expects
// its sequence to continue without a gap.
type producer struct {
	id    int64
	epoch int16
}

// noProducer requests a new producer.
var noProducer = producer{-1, -1}

// newProducer gets a producer id. For a transactional id it is always the same,
// with an epoch that fences earlier processes; their transactions have ended
// when newProducer returns.
func (k *cluster) newProducer(
	ctx context.Context, transactional *string, before producer,
) (producer, error) {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = before.id, before.epoch
	req.TransactionalID = transactional
	req.TransactionTimeoutMillis = int32(defaultTxTimeout.Milliseconds())
	resp, err := ask[*kmsg.InitProducerIDResponse](ctx, k.c, k.client, req)
	if err != nil {
		return producer{}, err
	}
	if err := brokerError("get a producer id for topic", k.topic, resp.ErrorCode, nil); err != nil {
		return producer{}, err
	}
	return producer{resp.ProducerID, resp.ProducerEpoch}, nil
}
