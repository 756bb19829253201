// SPDX-License-Identifier: Apache-2.0

package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/logread"
)

// screen collects the output.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// take returns the new lines.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return strings.ReplaceAll(s.text.String(), "\n", " ")
}

// put appends to a file.
func put(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func query(t *testing.T, text string) *logread.Query {
	t.Helper()
	q, err := logread.ParseQuery(text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func rawLines(t *testing.T) func() logs.Renderer {
	t.Helper()
	newRenderer, _, err := logs.Form{Output: "raw"}.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	return newRenderer
}

// tail follows files in a bubble until the test ends.
func tail(t *testing.T, s logs.Selection, n int, paths ...string) *screen {
	t.Helper()
	found, err := logs.Find(paths, nil, true, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.More = logs.Watch(paths, found, s)
	sources, err := logs.Tail(found, s, n)
	if err != nil {
		t.Fatal(err)
	}
	out := new(screen)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	newRenderer := rawLines(t)
	go func() {
		_, err := logs.Follow(ctx, out, sources, s, newRenderer)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	return out
}

// soon is when a poll has happened, and later when a renamed file is left.
const (
	soon  = 350 * time.Millisecond // not when polls happen
	later = 3 * time.Second
)

func TestTailFollowsAFileOverRenameRecreationAndTruncation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "a\nb\nc\n")
	synctest.Test(t, func(t *testing.T) {
		out := tail(t, logs.Selection{}, 2, path)
		check := func(wait time.Duration, want string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if got := out.take(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		check(soon, "b c ")
		put(t, path, "d\nhal")
		check(soon, "d ")
		put(t, path, "f\n")
		check(soon, "half ")

		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		put(t, path+".1", "late 1\n") // by a writer that has not noticed
		check(soon, "late 1 ")
		put(t, path, "new 1\n")
		put(t, path+".1", "late 2\nunfinished")
		check(soon, "late 2 ")
		check(later, "unfinished new 1 ")

		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		check(soon, "")
		put(t, path, "t\n")
		check(soon, "t ")

		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check(later, "")
		put(t, path, "again\n")
		check(later, "again ")
	})
}

// A file that is renamed before the one before it is left is read, too.
func TestTailFollowsRotationsThatAreFast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put(t, path, "0\n")
	synctest.Test(t, func(t *testing.T) {
		out := tail(t, logs.Selection{}, 2, path)
		await.Sleep(soon)
		want := "0 "
		for i := 1; i < 40; i++ {
			if err := os.Rename(path, fmt.Sprint(path, ".", i)); err != nil {
				t.Fatal(err)
			}
			put(t, path, fmt.Sprintln(i))
			want += fmt.Sprint(i, " ")
			await.Sleep(soon)
		}
		await.Sleep(later)
		if got := out.take(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestTailMergesSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	put(t, a, "")
	put(t, b, "")
	line := func(second int, level, name string) string {
		return fmt.Sprintf(`time=2026-11-20T10:00:%02dZ level=%s msg=%s`+"\n", second, level, name)
	}
	synctest.Test(t, func(t *testing.T) {
		out := tail(t, logs.Selection{Query: query(t, "level >= warn")}, 10, a, b)
		await.Sleep(soon)
		put(t, a, line(2, "warn", "a2")+line(3, "info", "a3")+line(5, "warn", "a5"))
		put(t, b, line(1, "error", "b1")+line(4, "error", "b4"))
		await.Sleep(soon)
		want := strings.ReplaceAll(line(1, "error", "b1")+line(2, "warn", "a2")+line(4, "error", "b4")+line(5, "warn", "a5"), "\n", " ")
		if got := out.take(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestTailBeginsWithTheLastSelectedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	var text strings.Builder
	for i := range 5000 {
		level := "info"
		if i%1000 == 0 {
			level = "error"
		}
		fmt.Fprintf(&text, "level=%s msg=%d pad=%s\n", level, i, strings.Repeat("x", i%997))
	}
	put(t, path, text.String()+"level=error msg=long pad="+strings.Repeat("y", 600<<10)+"\n")
	for n, want := range map[int]string{0: "", 1: "long", 3: "3000 4000 long", 5: "1000 2000 3000 4000 long", 100: "0 1000 2000 3000 4000 long"} {
		synctest.Test(t, func(t *testing.T) {
			out := tail(t, logs.Selection{Query: query(t, "level = error")}, n, path)
			await.Sleep(soon)
			var got []string
			for _, word := range strings.Fields(out.take()) {
				if m, ok := strings.CutPrefix(word, "msg="); ok {
					got = append(got, m)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%d: got %q, want %s", n, got, want)
			}
		})
	}
}

func TestAnEndedInputEndsTail(t *testing.T) {
	sources, err := logs.Find([]string{"-"}, strings.NewReader("a\nb"), true, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	out := new(screen)
	counts, err := logs.Follow(t.Context(), out, sources, logs.Selection{}, rawLines(t))
	if got := out.take(); got != "a b " || err != nil || counts.Matched != 2 {
		t.Errorf("got %q, %v, %+v", got, err, counts)
	}
}

func TestCatIsInterrupted(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	sources, _ := logs.Find([]string{"-"}, r, false, time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := logs.Cat(ctx, io.Discard, sources, logs.Selection{}, rawLines(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAFileIsPackedWhateverItsName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("a\nb\nc\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, path, packed.String())
	found, err := logs.Find([]string{path}, nil, true, time.Now())
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	sources, err := logs.Tail(found, logs.Selection{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	// It is not followed: that it ends is a part of the test.
	var out screen
	if _, err := logs.Follow(t.Context(), &out, sources, logs.Selection{}, rawLines(t)); err != nil || out.take() != "a b c " {
		t.Errorf("got %v", err)
	}
	put(t, path, packed.String()[:packed.Len()-4]) // a second part that is cut off
	for n, want := range []string{"", "b ", "a b ", "b a b "} {
		sources, err := logs.Tail(found, logs.Selection{Query: query(t, "line != c")}, n)
		if err != nil {
			t.Fatal(err)
		}
		_, err = logs.Follow(t.Context(), &out, sources, logs.Selection{}, rawLines(t))
		if got := out.take(); got != want || errors.Is(err, io.ErrUnexpectedEOF) != (n > 0) {
			t.Errorf("the last %d: got %q, %v", n, got, err)
		}
	}
	now, later, err := logs.Split(found, logs.Selection{})
	if err != nil || len(now) != 1 || len(later) != 0 {
		t.Errorf("got %d sources, %d later ones, %v", len(now), len(later), err)
	}
}
