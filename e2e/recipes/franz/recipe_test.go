// SPDX-License-Identifier: Apache-2.0

package franz

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRecords(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var rec nibtest.Recorder
	log := nib.NewSink(&rec, nib.WithLevel(nib.LevelDebug))
	client, err := Client(log, kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := kgo.StringRecord("tea")
	r.Topic, r.Headers = "orders", []kgo.RecordHeader{
		{Key: "x-request-id", Value: []byte("r7")},
		{Key: "traceparent", Value: []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")},
	}
	if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	handled := 0
	for handled == 0 && t.Context().Err() == nil {
		Consume(t.Context(), client, nil, log, func(ctx context.Context, r *kgo.Record) error {
			handled++
			nib.FromContext(ctx).Info().Msg("handling")
			return errors.New("unknown order")
		})
	}
	ids := map[string]any{"request_id": "r7", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}
	orders.Check(t, rec.Find("handling"), ids)
	orders.Check(t, rec.Find("job"), ids, map[string]any{"level": "error", "job": "orders", "partition": 0.0, "offset": 0.0, "error": "unknown order"})
	own := 0
	for _, line := range rec.Lines() {
		if strings.Contains(line, `"logger":"kafka"`) {
			own++
		}
	}
	if own == 0 {
		t.Error("got no line of the client itself")
	}
}
