// SPDX-License-Identifier: Apache-2.0

//go:build linux

package shop_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

// linesOfOrder is the number of lines of an order that succeeds.
const linesOfOrder = 7

// The shop is ended while eight clients send orders, by turns with SIGKILL and
// SIGTERM. Each order that was answered has all its lines, once, in the file
// and in the topic.
func TestNothingIsLostWhenTheShopEnds(t *testing.T) {
	rounds := 4
	if os.Getenv("NIB_E2E") == "full" {
		rounds = 40
	}
	b := newBed(t, false)
	var answered []string
	for round := range rounds {
		s := b.start(t)
		ended := make(chan struct{})
		first, done := b.load(round, ended)
		<-first
		<-time.After(100*time.Millisecond + rand.N(300*time.Millisecond))
		if round%2 == 0 {
			s.kill()
		} else {
			s.stop(t)
		}
		close(ended)
		answered = append(answered, <-done...)
	}
	b.start(t).stop(t) // delivers the lines that a killed one has left

	file, topic := byTrace(b.inFile(t)), byTrace(b.inTopic(t))
	for _, trace := range answered {
		if file[trace] != linesOfOrder || topic[trace] != linesOfOrder {
			t.Errorf("order %s has %d lines in the file and %d in the topic, want %d", trace, file[trace], topic[trace], linesOfOrder)
		}
	}
	t.Logf("%d ends, %d orders that were answered, %d lines in the topic", rounds, len(answered), len(b.inTopic(t)))
	if len(answered) < rounds {
		t.Errorf("only %d orders were answered", len(answered))
	}
}

// load sends orders from eight clients until ended is closed or the shop does
// not answer. It closes first when an order was answered or there will be none,
// and sends the traces of those that were answered in the end.
func (b *bed) load(round int, ended <-chan struct{}) (first <-chan struct{}, all <-chan []string) {
	done, some := make(chan []string, 1), make(chan struct{})
	begun := sync.OnceFunc(func() { close(some) })
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		answered []string
	)
	for client := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				trace := fmt.Sprintf("%08x%08x%016x", round+1, client, i)
				status, _, err := b.order(trace, "pen", "1")
				if err != nil {
					return
				}
				if status == 200 {
					mu.Lock()
					answered = append(answered, trace)
					mu.Unlock()
					begun()
				}
			}
		})
	}
	go func() { wg.Wait(); begun(); done <- answered }()
	return some, done
}

// byTrace counts lines.
func byTrace(lines []line) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[l.TraceID]++
	}
	return n
}
