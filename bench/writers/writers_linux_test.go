// SPDX-License-Identifier: Apache-2.0

package writers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/stdout"
)

// TestMain gives loggers a file as standard error.
func TestMain(m *testing.M) {
	f, err := os.CreateTemp("", "nib")
	if err != nil {
		panic(err)
	}
	os.Stderr = f
	code := m.Run()
	os.Remove(f.Name())
	os.Exit(code)
}

// losses is how many lines are lost in each test.
const losses = 3000

// message is in each line of a logger.
const message = "request served"

// layouts has the layouts of loggers that do not write as nib does.
var layouts = map[string]nib.Layout{"zap": layout.Zap(), "zerolog": layout.Zerolog(),
	"logrus": layout.Logrus(), "slog": layout.Slog()}

// loggers returns the loggers that write lines of ten fields, and package log.
func loggers() []*bench.Peer {
	text := strings.Repeat("x", 200) + message // a pipe is full after a few hundred lines
	setup := func(w io.Writer) measure.Run {
		l := log.New(w, "", log.LstdFlags)
		return measure.Run{Do: func(int) { l.Print(text) }}
	}
	return append(bench.Peers(),
		&bench.Peer{Name: "log", Rows: map[string]bench.Setup{"TenFields": setup}})
}

// counts are the counts of a sink.
type counts struct {
	Lines, Lost, Notices uint64
	Reason               delivery.Reason // of the first loss
}

func count(lines, lost, notices uint64, dropped []delivery.Drop) counts {
	c := counts{Lines: lines, Lost: lost, Notices: notices}
	if len(dropped) > 0 {
		c.Reason = dropped[0].Reason
	}
	return c
}

// A fault is a sink and what goes wrong behind it.
type fault struct {
	sink interface {
		nib.Sink
		io.Closer
	}
	stats  func() counts
	begin  func()        // the fault begins, after one line
	during func()        // after each 100 lines
	end    func()        // lines can be written again
	text   func() []byte // what was written, after Close
}

var faults = []struct {
	name   string
	reason delivery.Reason
	start  func(t *testing.T, l nib.Layout) fault
}{
	{"the reader stops", delivery.ReasonStalled, func(t *testing.T, l nib.Layout) fault {
		f, _ := pipe(t, l)
		return f
	}},
	{"the reader is slow", delivery.ReasonStalled, func(t *testing.T, l nib.Layout) fault {
		f, r := pipe(t, l)
		var taken []byte
		chunk, rest := make([]byte, 4<<10), f.text
		f.during = func() {
			n, err := r.Read(chunk)
			must(t, err)
			taken = append(taken, chunk[:n]...)
		}
		f.text = func() []byte { return append(taken, rest()...) }
		return f
	}},
	{"the reader is gone", delivery.ReasonGone, func(t *testing.T, l nib.Layout) fault {
		f, r := pipe(t, l)
		f.begin, f.end = func() { r.Close() }, nil
		return f
	}},
	{"the file is limited", delivery.ReasonFailed, func(t *testing.T, l nib.Layout) fault {
		f := toFile(t, l, t.TempDir())
		signal.Ignore(syscall.SIGXFSZ)
		f.begin, f.end = func() { limitFiles(t, 8<<10) }, func() { limitFiles(t, ^uint64(0)) }
		t.Cleanup(f.end)
		return f
	}},
	{"the disk is full", delivery.ReasonFull, func(t *testing.T, l nib.Layout) fault {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("cannot mount a tmpfs: %v", err)
		}
		t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
		ballast := filepath.Join(dir, "ballast")
		must(t, os.WriteFile(ballast, make([]byte, 1000<<10), 0o600))
		f := toFile(t, l, dir)
		f.end = func() { must(t, os.Remove(ballast)) }
		return f
	}},
}

// pipe returns a sink to a pipe that is read from the end of the fault on.
func pipe(t *testing.T, l nib.Layout) (fault, *os.File) {
	r, w := stdiotest.Pipe(t)
	// A call that waits for the reader can end only by this time.
	s := stdout.New(stdout.Config{File: w, Stall: time.Millisecond, Layout: l})
	w.Close() // the sink has a separate descriptor
	all := make(chan []byte, 1)
	return fault{
		sink: s,
		stats: func() counts {
			st := s.Stats()
			return count(st.Lines, st.Lost(), st.Notices, st.Dropped)
		},
		end: func() {
			go func() {
				text, _ := io.ReadAll(r) // a part of it fails the test
				all <- text
			}()
		},
		text: func() []byte { return <-all },
	}, r
}

func toFile(t *testing.T, l nib.Layout, dir string) fault {
	path := filepath.Join(dir, "app.log")
	s, err := file.Open(path, file.Config{Layout: l})
	must(t, err)
	return fault{
		sink: s,
		stats: func() counts {
			st := s.Stats()
			return count(st.Lines, st.Lost(), st.Notices, st.Dropped)
		},
		text: func() []byte {
			text, err := os.ReadFile(path)
			must(t, err)
			return text
		},
	}
}

// limitFiles limits the size of files: a write beyond it fails.
func limitFiles(t *testing.T, size uint64) {
	var l syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l))
	l.Cur = min(size, l.Max)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryLineIsWrittenOrCountedAndAnnounced(t *testing.T) {
	for _, l := range loggers() {
		setup := l.Rows["TenFields"]
		for _, f := range faults {
			if setup == nil {
				continue
			}
			t.Run(l.Name+", "+f.name, func(t *testing.T) {
				logThrough(t, setup, l.Name, f.start(t, layouts[l.Name]), f.reason)
			})
		}
	}
}

// logThrough logs until lines are lost, and on until each loss has been
// announced to the reader.
func logThrough(t *testing.T, setup bench.Setup, name string, f fault, why delivery.Reason) {
	w := sink.NewWriter(f.sink, sink.WriterConfig{})
	run, logged := setup(w), uint64(0)
	log := func() {
		run.Do(1)
		logged++
	}
	log()
	call(f.begin)
	for f.stats().Lost < losses {
		if log(); logged%100 == 0 {
			call(f.during)
		}
	}
	call(f.end)
	for announced := f.end == nil; !announced; {
		lost := f.stats().Lost
		log()
		announced = w.Sync() == nil && f.stats().Lost == lost && f.stats().Notices > 0
	}
	must(t, f.sink.Close())
	got := f.stats()
	if logged != got.Lines+got.Lost || got.Reason != why {
		t.Errorf("got %+v of %d lines, want lines + lost, for the reason %s", got, logged, why)
	}
	if f.end != nil {
		check(t, name, got, f.text(), why)
	} else if got.Lines != 1 || got.Notices != 0 {
		t.Errorf("got %+v, want one line", got)
	}
	reported, err := os.ReadFile(os.Stderr.Name())
	must(t, err)
	reported = reported[seen : bytes.LastIndexByte(reported, '\n')+1]
	seen += len(reported)
	for line := range bytes.Lines(reported) {
		if !bytes.HasPrefix(line, []byte("nib/")) { // which are few, and not waited for
			t.Fatalf("a stopped reader of standard error would block the logger: %s", line)
		}
	}
}

// seen is how much of standard error was read.
var seen int

func call(f func()) {
	if f != nil {
		f()
	}
}

// check checks that each line is in text or counted as lost, and that each
// loss is announced in the layout of the logger.
func check(t *testing.T, name string, got counts, text []byte, why delivery.Reason) {
	t.Helper()
	key := cmp.Or(layouts[name].MessageKey, "message")
	var lines, notices, announced uint64
	torn := 0
	for line := range bytes.Lines(text) {
		var notice struct{ Dropped uint64 }
		switch {
		case bytes.Contains(line, []byte(`"dropped":`)):
			if err := json.Unmarshal(line, &notice); err != nil {
				t.Error(err)
			}
			if !strings.Contains(string(line), `"`+key+`":"lines lost: `) {
				t.Errorf("the notice has no %s: %s", key, line)
			}
			notices++
			announced += notice.Dropped
		case name != "log" && !json.Valid(line), !bytes.Contains(line, []byte(message)):
			torn++ // by a write that the system has cut short
			if torn > 1 || why == delivery.ReasonStalled {
				t.Errorf("not a whole line: %q", line)
			}
		default:
			lines++
		}
	}
	if lines != got.Lines || notices != got.Notices || announced != got.Lost {
		t.Errorf("the reader got %d lines, and %d notices of %d lost lines, want %+v",
			lines, notices, announced, got)
	}
}
