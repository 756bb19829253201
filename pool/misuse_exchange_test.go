// SPDX-License-Identifier: Apache-2.0

//go:build !invariants && (race || !amd64)

package pool_test

import (
	"sync"
	"testing"

	"github.com/nib-log/nib/pool"
)

func TestOfTwoPutsAtTheSameTimeOneIsIgnored(t *testing.T) {
	var p pool.Buffers
	for i := range uint64(1000) {
		b := p.Get(100)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				p.Put(b)
			}()
		}
		close(start)
		wg.Wait()
		if s := p.Stats(); s.Len != 1 || s.Misused != i+1 {
			t.Fatalf("got %+v, want one idle and %d misuses", s, i+1)
		}
	}
}
