// SPDX-License-Identifier: Apache-2.0

package dirwatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A reader is woken by events of its set of files only.
func TestWatcherWakesTheReadersOfASet(t *testing.T) {
	dir := t.TempDir()
	w := New(t.Context(), filepath.Ext)
	if w == nil {
		t.Skip("the system reports no changes to one more program")
	}
	logs, texts := w.Changed(filepath.Join(dir, "a.log")), w.Changed(filepath.Join(dir, "a.txt"))
	for _, name := range []string{"b.txt", "b.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("line\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	<-w.Created()
	<-texts
	<-logs
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-texts
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
