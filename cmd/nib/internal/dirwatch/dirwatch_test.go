// SPDX-License-Identifier: Apache-2.0

package dirwatch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/nib-log/nib/internal/must"

	"github.com/nib-log/nib/internal/await"
)

// watch returns a Watcher. The test is skipped where the system has none left:
// each user may have a number of them, for all programs together.
func watch(t *testing.T, ctx context.Context, setOf func(path string) string) *Watcher {
	t.Helper()
	w := New(ctx, setOf)
	if w == nil {
		t.Skip("New returned nil: too many programs of this user watch files")
	}
	return w
}

// A reader is woken by the events of its set of files, and by no others.
func TestWatcherWakesTheReadersOfASet(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, t.Context(), filepath.Ext)
	logs, texts := w.Changed(filepath.Join(dir, "a.log")), w.Changed(filepath.Join(dir, "a.txt"))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "b.txt"), nil, 0o600))
	<-w.Created()
	<-texts
	w.wake(fsnotify.Event{Name: filepath.Join(dir, "b.log"), Op: fsnotify.Chmod})
	if len(logs) != 0 {
		t.Error("a reader is woken though no file of its set has changed")
	}
	w.wake(fsnotify.Event{Name: filepath.Join(dir, "b.log"), Op: fsnotify.Write})
	<-logs
}

// All readers of a file are woken, each once for several events that it has not
// noticed, however its path is written.
func TestWatcherWakesEachReaderOnce(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, t.Context(), func(path string) string { return path })
	one, other := w.Changed(filepath.Join(dir, "a.log")), w.Changed(dir+"/./a.log")
	w.wake(fsnotify.Event{Name: dir + "//a.log", Op: fsnotify.Create})
	w.wake(fsnotify.Event{Name: dir + "//a.log", Op: fsnotify.Create})
	if len(one) != 1 || len(other) != 1 || len(w.created) != 1 {
		t.Errorf("got %d and %d events, and %d files, want one each",
			len(one), len(other), len(w.created))
	}
	<-w.Created()
	w.wake(fsnotify.Event{Name: dir + "//a.log", Op: fsnotify.Write})
	if len(w.created) != 0 {
		t.Error("a line in a file counts as a new file")
	}
}

// An overflow of the events ends nothing, and no goroutine is left when the
// context ends.
func TestWatcherEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := watch(t, ctx, filepath.Base)
	w.events.Errors <- fsnotify.ErrEventOverflow
	w.Add(dir)
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "a.log"), nil, 0o600))
	<-w.Created()
	cancel()
	await.Until(t, "the goroutine has ended", func() bool {
		stacks := make([]byte, 1<<20)
		return !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Watcher).run"))
	})
}

// Without events no channel receives, and there is no error.
func TestWatcherWithoutEvents(t *testing.T) {
	var none *Watcher
	none.Add(t.TempDir())
	if none.Changed("app.log") != nil || none.Created() != nil {
		t.Error("a nil Watcher wakes a reader")
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := watch(t, ctx, filepath.Base)
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
