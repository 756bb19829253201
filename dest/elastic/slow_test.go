// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package elastic

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// Requests become shorter if the server does not respond to long ones within
// Timeout; otherwise the same one would be repeated for ever.
func TestServerThatIsTooSlowForLongRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		var slow atomic.Bool // handlers outlive their requests
		slow.Store(true)
		d := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if slow.Load() {
				time.Sleep(time.Duration(len(body)) * 100 * time.Microsecond) // fake time: 10 kB/s
			}
			if r.Context().Err() == nil {
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.ServeHTTP(w, r)
			}
		}), Config{Timeout: 10 * time.Second})
		batch := batchOf(3000)
		for range 10 {
			res, _ := d.Deliver(context.Background(), batch)
			batch = batch[res.Accepted:]
		}
		if len(batch) > 0 || len(s.order) != 3000 {
			t.Fatalf("%d of 3000 documents in requests of %d", len(s.order), s.sizes)
		}
		slow.Store(false)
		s.sizes = nil
		for range 10 {
			await.Sleep(2 * time.Minute)
			_, _ = d.Deliver(context.Background(), batchOf(3000))
		}
		if got := s.sizes[len(s.sizes)-1]; got != 3000 {
			t.Errorf("after a while, got a request of %d", got)
		}
	})
}
