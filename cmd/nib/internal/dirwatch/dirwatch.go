// SPDX-License-Identifier: Apache-2.0

// Package dirwatch wakes the readers of growing files when the system reports a
// change in a directory. Not every change is reported (a network file system
// has writers elsewhere), so readers poll, too.
package dirwatch

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// A Watcher wakes readers. It is safe for concurrent use. A nil Watcher wakes
// no reader.
type Watcher struct {
	events  *fsnotify.Watcher
	set     func(path string) string
	created chan struct{}

	mu      sync.Mutex
	changed map[string][]chan struct{} // by set
}

// New returns a Watcher that ends with ctx. The files with the same set are
// watched together. It returns nil if the system cannot report changes, or not
// to one more program.
func New(ctx context.Context, set func(path string) string) *Watcher {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	w := &Watcher{
		events: events, set: set,
		created: make(chan struct{}, 1), changed: map[string][]chan struct{}{},
	}
	context.AfterFunc(ctx, func() { _ = events.Close() })
	go w.run()
	return w
}

// Changed returns a channel that receives after a change to a file of the set
// of path in its directory.
func (w *Watcher) Changed(path string) <-chan struct{} {
	if w == nil {
		return nil
	}
	set, c := w.set(filepath.Clean(path)), make(chan struct{}, 1)
	w.mu.Lock()
	w.changed[set] = append(w.changed[set], c)
	w.mu.Unlock()
	w.Add(filepath.Dir(path))
	return c
}

// Add watches a directory for Created.
func (w *Watcher) Add(dir string) {
	if w != nil {
		_ = w.events.Add(dir) // the reader polls a directory that cannot be watched
	}
}

// Created returns the channel that receives after a file got a name in one of
// the directories. It is for one reader.
func (w *Watcher) Created() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.created
}

// run wakes readers until the events end.
func (w *Watcher) run() {
	for {
		select {
		case e, ok := <-w.events.Events:
			if !ok {
				return
			}
			w.wake(e)
		case <-w.events.Errors: // the poll finds what an overflow has lost
		}
	}
}

// wake wakes the readers that an event is for.
func (w *Watcher) wake(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	if e.Has(fsnotify.Create) {
		send(w.created)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changed[w.set(filepath.Clean(e.Name))] {
		send(c)
	}
}

func send(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // the reader has not noticed an earlier event yet
	}
}
