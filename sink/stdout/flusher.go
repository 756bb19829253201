// SPDX-License-Identifier: Apache-2.0

package stdout

import "time"

// A flusher is a goroutine that limits the time for which lines wait in a
// buffer. It sleeps until a line wakes it, then flushes after each delay until
// there is nothing to write, so there is no timer and no wake-up per line.
type flusher struct {
	delay time.Duration
	awake bool // the goroutine enforces the delay; Sink.mu protects it
	wake  chan struct{}
	quit  chan struct{} // closed by stop
	done  chan struct{} // closed by the goroutine
}

// start wakes the goroutine. Sink.mu is held.
func (f *flusher) start() {
	if !f.awake {
		f.awake = true
		f.wake <- struct{}{} // never blocks: the channel is empty while the goroutine sleeps
	}
}

// stop ends the goroutine.
func (f *flusher) stop() {
	close(f.quit)
	<-f.done
}

// run calls flush after each delay until it returns false, each time start was
// called. It returns after stop.
func (f *flusher) run(awake bool, flush func() bool) {
	ended := false
	defer func() {
		if !ended { // OnStall has called runtime.Goexit
			go f.run(true, flush)
			return
		}
		close(f.done)
	}()
	delay := time.NewTimer(0)
	<-delay.C
	defer delay.Stop()
	for {
		if awake {
			delay.Reset(f.delay)
		}
		select {
		case <-f.wake:
			awake = true
		case <-delay.C:
			awake = flush()
		case <-f.quit:
			ended = true
			return
		}
	}
}
