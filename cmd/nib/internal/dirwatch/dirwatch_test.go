// SPDX-License-Identifier: Apache-2.0

package dirwatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// A reader is woken by the events of its set of files, and by no others.
func TestWatcherWakesTheReadersOfASet(t *testing.T) {
	dir := t.TempDir()
	w := New(t.Context(), filepath.Ext)
	if w == nil {
		t.Skip("the system reports no changes to one more program")
	}
	logs, texts := w.Changed(filepath.Join(dir, "a.log")), w.Changed(filepath.Join(dir, "a.txt"))
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-w.Created()
	<-texts
	w.wake(fsnotify.Event{Name: filepath.Join(dir, "b.log"), Op: fsnotify.Chmod})
	if len(logs) != 0 {
		t.Error("a reader is woken though no file of its set has changed")
	}
	w.wake(fsnotify.Event{Name: filepath.Join(dir, "b.log"), Op: fsnotify.Write})
	<-logs
}

// Without events no channel receives, and there is no error.
func TestWatcherWithoutEvents(t *testing.T) {
	var none *Watcher
	none.Add(t.TempDir())
	if none.Changed("app.log") != nil || none.Created() != nil {
		t.Error("a nil Watcher wakes a reader")
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := New(ctx, filepath.Base)
	if w == nil {
		t.Skip("the system reports no changes to one more program")
	}
	c := w.Changed(filepath.Join(t.TempDir(), "missing", "app.log"))
	cancel()
	for range w.events.Events { // until the goroutines have ended
	}
	w.Add(t.TempDir())
	select {
	case <-c:
		t.Error("an ended Watcher wakes a reader")
	default:
	}
}
