// SPDX-License-Identifier: Apache-2.0

package franz

import (
	"context"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibslog"
	"github.com/nib-log/nib/request"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kslog"
)

func Client(log *nib.Logger, options ...kgo.Opt) (*kgo.Client, error) {
	own := slog.New(nibslog.NewHandler(log.Named("kafka"))) // NIB_LEVEL=info,kafka=warn
	return kgo.NewClient(append(options, kgo.WithLogger(kslog.New(own)))...)
}

// Consume handles records, each as a job with an event of its own. The event
// has the ids of the request that produced the record.
func Consume(
	ctx context.Context, client *kgo.Client, policy *request.Policy, log *nib.Logger,
	handle func(context.Context, *kgo.Record) error,
) {
	client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
		ctx := request.WithIDs(ctx, header(r, "x-request-id"), header(r, "traceparent"))
		// The error is in the event.
		_ = policy.Run(ctx, log, r.Topic, func(ctx context.Context) error {
			request.AddAttrs(ctx, slog.Int("partition", int(r.Partition)),
				slog.Int64("offset", r.Offset))
			return handle(ctx, r)
		})
	})
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
