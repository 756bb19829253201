// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/await"
)

// Requests become shorter if the receiver does not respond to long ones within
// Timeout; otherwise the same one would be repeated for ever.
func TestReceiverThatIsTooSlowForLongRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last, speed atomic.Int64               // handlers outlive their requests
		speed.Store(int64(100 * time.Microsecond)) // for a byte: 10 kB/s
		s := &receiver{answer: func(w http.ResponseWriter, q *request) {
			time.Sleep(time.Duration(int64(q.size) * speed.Load())) // fake time
			last.Store(int64(len(q.records)))
			if q.Context().Err() == nil {
				ok(w, q)
			}
		}}
		d := open(t, collector, s, otlp.Config{})
		batch := batchOf(1, 3000)
		want := uidsOf(batch)
		for range 10 {
			res, _ := d.Deliver(context.Background(), batch)
			batch = batch[res.Accepted:]
		}
		checkArrival(t, s.uids(), want, nil, nil, 0)
		speed.Store(0)
		for range 10 {
			await.Sleep(2 * time.Minute)
			_, _ = d.Deliver(context.Background(), batchOf(1, 3000))
		}
		if last := last.Load(); last != 3000 {
			t.Errorf("after a while, got a request of %d records", last)
		}
	})
}
