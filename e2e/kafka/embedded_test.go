// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/nib-log/nib/internal/seed"
)

// A service is killed repeatedly while it delivers to a cluster in this
// process, which takes up to 10 ms for each request, so that one is usually in
// flight.
func TestKillEmbedded(t *testing.T) {
	for _, mode := range seed.Some(t, 2, slices.Sorted(maps.Keys(modes))) {
		t.Run(mode, func(t *testing.T) {
			rounds := 8
			if mode == "default" {
				rounds = 40
			}
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "logs"))
			must(t, err)
			defer c.Close()
			c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
				c.SleepControl(func() { <-time.After(rand.N(10 * time.Millisecond)) })
				return nil, nil, false
			})
			addrs, dir, calls := c.ListenAddrs(), t.TempDir(), map[string]int{}
			for round := range rounds {
				name := strconv.Itoa(round + 1)
				calls[name] = killService(t, addrs, dir, mode, name, 50*time.Millisecond+rand.N(100*time.Millisecond))
			}
			last, out := service(t, addrs, dir, mode, "")
			_, _ = io.Copy(io.Discard, out)
			must(t, last.Wait())
			v := check(t, addrs, calls, mode != "round robin" && mode != "keyed")
			t.Logf("%d kills of the service, %d records: %s", rounds, v.records, v)
			if v != (verdict{records: v.records}) {
				t.Error("not each once and in order")
			}
		})
	}
}
