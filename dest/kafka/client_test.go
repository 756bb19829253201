// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/metrics"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// New needs brokers and a topic.
func TestNewWithoutTopic(t *testing.T) {
	for _, c := range []struct {
		brokers []string
		topic   string
	}{{nil, "logs"}, {[]string{"127.0.0.1:1"}, ""}, {nil, ""}} {
		if d, err := New(c.brokers, c.topic, Config{}); d != nil || err == nil || !strings.Contains(err.Error(), "no brokers") {
			t.Errorf("%q, %q: got %v", c.brokers, c.topic, err)
		}
	}
}

// Ping and Deliver return the cause of the end of their context, and requests
// in flight end with Close.
func TestCauseOfTheEnd(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, "logs", Config{})
	must.Succeed(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDenied)
	if err := d.Ping(ctx); !errors.Is(err, errDenied) || !strings.Contains(err.Error(), "ping") {
		t.Errorf("Ping: got %v", err)
	}
	if res, err := d.Deliver(ctx, records(7, 1, 2)); res.Accepted != 0 || !errors.Is(err, errDenied) || d.Stats().Failures > 0 {
		t.Errorf("Deliver: got %+v, %v, %+v", res, err, d.Stats())
	}
	d.lanes = []*lane{newLane(d, "logs", 0)}
	ended := make(chan struct{})
	p := &inFlight{underway: ended, cancel: func() { close(ended) }}
	d.lanes[0].queue = []*inFlight{p}
	if err := d.Close(); err != nil || p.underway != nil {
		t.Errorf("Close: got %v, in flight %v", err, p.underway != nil)
	}
	if err := d.cluster.client.Ping(t.Context()); err == nil || errors.As(err, new(*net.OpError)) {
		t.Errorf("after Close: got %v", err)
	}
}

// The error of a broker is reported even if the context has ended, and the end
// of the context is not reported as a failure.
func TestErrorAtTheEndOfTheContext(t *testing.T) {
	for _, c := range []struct {
		p        inFlight
		want     error
		failures uint64
	}{
		{inFlight{answer: &kmsg.ProduceResponseTopicPartition{ErrorCode: kerr.NotEnoughReplicas.Code}}, kerr.NotEnoughReplicas, 1},
		{inFlight{err: context.Canceled}, errDenied, 0},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		d, err := New([]string{"127.0.0.1:1"}, "logs", Config{Key: func(*nib.Record) []byte {
			cancel(errDenied)
			return nil
		}})
		must.Succeed(t, err)
		p := queued(1, 2, 0)
		p.answer, p.err, p.cancel, p.underway = c.p.answer, c.p.err, func() {}, make(chan struct{})
		close(p.underway)
		l := newLane(d, "logs", 0)
		d.lanes, l.known, l.queue = []*lane{l}, true, []*inFlight{p}
		if res, err := d.Deliver(ctx, records(7, 1, 2)); res.Accepted != 0 || !errors.Is(err, c.want) || d.Stats().Failures != c.failures {
			t.Errorf("got %+v, %v, %+v; want %v", res, err, d.Stats(), c.want)
		}
		_ = d.Close()
	}
}

// A responder is a broker with one response to any request.
type responder struct {
	resp kmsg.Response
	err  error
}

func (r responder) Request(context.Context, kmsg.Request) (kmsg.Response, error) {
	return r.resp, r.err
}

// Responses that are not what was requested are errors with the name of the
// request.
func TestTypeOfAResponse(t *testing.T) {
	req, resp := kmsg.NewPtrProduceRequest(), kmsg.NewPtrProduceResponse()
	ctx, c := t.Context(), (Config{}).withDefaults()
	got, err := ask[*kmsg.ProduceResponse](ctx, &c, responder{resp, nil}, req)
	if got != resp || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = ask[*kmsg.ProduceResponse](ctx, &c, responder{nil, errDenied}, req)
	if !errors.Is(err, errDenied) || !strings.Contains(err.Error(), "Produce: ") {
		t.Errorf("an error: got %v", err)
	}
	_, err = ask[*kmsg.FetchResponse](ctx, &c, responder{resp, nil}, req)
	if want := "Produce: the answer is a *kmsg.ProduceResponse"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("another response: got %v", err)
	}
}

// The versions of requests are those in which topics are identified by name,
// and a transaction keeps its epoch.
func TestVersionsOfRequests(t *testing.T) {
	v := versions()
	for key, want := range map[kmsg.Key]int16{kmsg.Produce: 11, kmsg.Fetch: 12, kmsg.AddPartitionsToTxn: 3, kmsg.EndTxn: 4, kmsg.InitProducerID: 4} {
		if got, ok := v.LookupMaxKeyVersion(key.Int16()); got != want || !ok {
			t.Errorf("%s: got %d, %v, want %d", key.Name(), got, ok, want)
		}
	}
}

// A topic has as many partitions as the response; those that it does not
// describe have no leader.
func TestLayoutOfATopic(t *testing.T) {
	describe := func(topic *string, code int16, numbers ...int32) kmsg.MetadataResponseTopic {
		m := kmsg.MetadataResponseTopic{Topic: topic, TopicID: [16]byte{1}, ErrorCode: code}
		for _, n := range numbers {
			m.Partitions = append(m.Partitions, kmsg.MetadataResponseTopicPartition{Partition: n, Leader: 10 + n})
		}
		return m
	}
	name, other, missing := kmsg.StringPtr("logs"), kmsg.StringPtr("other"), kerr.UnknownTopicOrPartition.Code
	for _, c := range []struct {
		what   string
		topics []kmsg.MetadataResponseTopic
		create bool
		want   []int32
		err    string
	}{
		{"one topic", []kmsg.MetadataResponseTopic{describe(name, 0, 1, 0)}, false, []int32{10, 11}, ""},
		{"partitions that do not exist", []kmsg.MetadataResponseTopic{describe(name, 0, -1, 4, 2, 5)}, false, []int32{-1, -1, 12, -1}, ""},
		{"others before it", []kmsg.MetadataResponseTopic{describe(nil, missing), describe(other, missing), describe(name, 0, 0)}, false, []int32{10}, ""},
		{"no topic", nil, false, nil, "look up topic logs: no partitions"},
		{"another topic", []kmsg.MetadataResponseTopic{describe(other, 0, 0)}, false, nil, "look up topic logs: no partitions"},
		{"no partitions", []kmsg.MetadataResponseTopic{describe(name, 0)}, false, nil, "look up topic logs: no partitions"},
		{"a missing topic", []kmsg.MetadataResponseTopic{describe(name, missing)}, false, nil, "or set Config.CreateTopic"},
		{"a topic to be created", []kmsg.MetadataResponseTopic{describe(name, missing)}, true, nil, kerr.UnknownTopicOrPartition.Error()},
		{"not permitted", []kmsg.MetadataResponseTopic{describe(name, kerr.TopicAuthorizationFailed.Code)}, false, nil, kerr.TopicAuthorizationFailed.Error()},
	} {
		l, err := layoutOf(&kmsg.MetadataResponse{Topics: c.topics}, "logs", c.create)
		if !slices.Equal(l.leaders, c.want) || (l.id == [16]byte{1}) != (c.err == "") {
			t.Errorf("%s: got %+v, want leaders %v", c.what, l, c.want)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.HasSuffix(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.err)
		}
	}
}

// Each count is a metric.
func TestMetricsAreThoseOfStats(t *testing.T) {
	d := &Destination{
		cluster:  cluster{topic: "logs"},
		counters: counters{stats: Stats{1, 2, 3, 4, 5, 6, 7, 8}},
	}
	got := map[string]float64{}
	for m := range d.Metrics() {
		got[m.Name] = m.Value
		if !slices.Equal(m.Labels, []metrics.Label{{Name: "topic", Value: "logs"}}) {
			t.Errorf("%s: got %v", m.Name, m.Labels)
		}
	}
	for i, name := range []string{"acknowledged_records", "batches", "batch_bytes", "present_records", "rejected_records", "dead_letter_records", "retries", "searches"} {
		if v := got["nib_kafka_"+name+"_total"]; v != float64(i+1) {
			t.Errorf("%s: got %v, want %d", name, v, i+1)
		}
	}
}

// The times of a batch come from its records, whatever was encoded before.
func TestTimesOfABatch(t *testing.T) {
	var e encoder
	for _, times := range [][]int64{{5000, 9000, 7000}, {3000}, {4000, 2000}} {
		e.reset()
		first, latest := times[0], times[0]
		for _, ms := range times {
			e.add(&nib.Record{Time: ms * 1e6}, nil, "")
			latest = max(latest, ms)
		}
		b := e.frame(producer{3, 4}, 5)
		var head kmsg.RecordBatch
		if err := head.ReadFrom(b); err != nil || head.FirstTimestamp != first || head.MaxTimestamp != latest || head.PartitionLeaderEpoch != -1 {
			t.Errorf("%v: got %d to %d, epoch %d, %v", times, head.FirstTimestamp, head.MaxTimestamp, head.PartitionLeaderEpoch, err)
		}
		if n := binary.BigEndian.Uint32(b[frameCount:]); int(n) != len(times) {
			t.Errorf("%v: got %d records", times, n)
		}
	}
}

// The message of a broker is in the error, if there is one.
func TestMessageOfABroker(t *testing.T) {
	code := kerr.InvalidRecord.Code
	for _, c := range []struct {
		message *string
		want    string
	}{{nil, ")"}, {kmsg.StringPtr(""), "()"}} {
		if err := brokerError("produce to", "logs", code, c.message); !errors.Is(err, kerr.InvalidRecord) || strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("got %v", err)
		}
	}
	if err := brokerError("produce to", "logs", code, kmsg.StringPtr("no key")); !errors.Is(err, kerr.InvalidRecord) || !strings.HasSuffix(err.Error(), "(no key)") {
		t.Errorf("got %v", err)
	}
	if err := brokerError("produce to", "logs", 0, kmsg.StringPtr("no key")); err != nil {
		t.Errorf("got %v", err)
	}
}
