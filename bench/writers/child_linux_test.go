// SPDX-License-Identifier: Apache-2.0

package writers

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/stdout"
)

// Tests start this binary as a service. Its standard output and standard error
// are the pipes of the test. It reports on descriptor 3, and waits for the test
// by reading standard input.
const (
	faultVar  = "NIB_WRITERS_FAULT"
	loggerVar = "NIB_WRITERS_LOGGER"
	pathVar   = "NIB_WRITERS_PATH"
)

// lifeTime is the time after which a service that hangs reports its goroutines,
// and ends.
const lifeTime = 2 * time.Minute

func TestMain(m *testing.M) {
	child.Dispatch()
	fault := os.Getenv(faultVar)
	if fault == "" {
		os.Exit(m.Run())
	}
	reports := os.NewFile(3, "reports")
	time.AfterFunc(lifeTime, func() {
		_ = pprof.Lookup("goroutine").WriteTo(reports, 2)
		os.Exit(2)
	})
	err := serve(fault, reports)
	if err != nil {
		fmt.Fprintln(reports, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// counts are the counts of a service.
type counts struct {
	Logged  uint64
	Lines   uint64
	Lost    uint64
	Notices uint64
	Reason  delivery.Reason // of the first loss
}

// An output is a sink whose lines are counted.
type output interface {
	nib.Sink
	delivery.Flusher
	io.Closer
}

// A service logs through another library.
type service struct {
	out    output
	stats  func() counts
	write  func(msg string)
	w      *sink.Writer
	logged uint64
}

// pad lets a pipe be full after a few hundred lines.
var pad = strings.Repeat("x", 200) + "end"

func (s *service) log() {
	s.write(pad)
	s.logged++
}

// logUntilAnnounced logs until each loss has been announced to the reader.
func (s *service) logUntilAnnounced() {
	for announced := false; !announced; {
		lost := s.stats().Lost
		s.log()
		announced = s.w.Sync() == nil && s.stats().Lost == lost && s.stats().Notices > 0
	}
}

func newService(name, path string) (*service, error) {
	at := slices.IndexFunc(libraries, func(l library) bool { return l.Name == name })
	l, s := &libraries[at], new(service)
	if path == "" {
		// A call that waits for the reader can end only by this time.
		out := stdout.New(stdout.Config{Stall: time.Millisecond, Layout: l.Layout})
		s.out, s.stats = out, func() counts {
			st := out.Stats()
			return counts{s.logged, st.Lines, st.Lost(), st.Notices, reason(st.Dropped)}
		}
	} else {
		out, err := file.Open(path, file.Config{Layout: l.Layout})
		if err != nil {
			return nil, err
		}
		s.out, s.stats = out, func() counts {
			st := out.Stats()
			return counts{s.logged, st.Lines, st.Lost(), st.Notices, reason(st.Dropped)}
		}
	}
	s.w = sink.NewWriter(s.out, sink.WriterConfig{})
	s.write = l.New(s.w)
	return s, nil
}

func reason(dropped []delivery.Drop) delivery.Reason {
	if len(dropped) == 0 {
		return ""
	}
	return dropped[0].Reason
}

// someLost is more lines than standard error has room for, if the logger
// reports each loss there.
const someLost = 3000

func serve(fault string, reports io.Writer) error {
	s, err := newService(os.Getenv(loggerVar), os.Getenv(pathVar))
	if err != nil {
		return err
	}
	s.log()
	switch fault {
	case "gone", "slow":
		fmt.Fprintln(reports, "ready")
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			return err
		}
	case "limited":
		signal.Ignore(syscall.SIGXFSZ)
		if err := limitFiles(8 << 10); err != nil {
			return err
		}
	}
	for s.stats().Lost < someLost {
		s.log()
		if fault == "slow" && s.logged%100 == 0 {
			fmt.Fprintln(reports, "tick")
		}
	}
	switch fault {
	case "limited":
		err = limitFiles(^uint64(0))
	case "full":
		err = os.Remove(filepath.Join(filepath.Dir(os.Getenv(pathVar)), ballast))
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(reports, "lost")
	if fault != "gone" {
		s.logUntilAnnounced()
	}
	if err := s.out.Close(); err != nil {
		return err
	}
	return json.NewEncoder(reports).Encode(s.stats())
}

// ballast is the name of the file that fills the disk.
const ballast = "ballast"

// limitFiles limits the size of files: a write beyond it fails.
func limitFiles(size uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		return err
	}
	l.Cur = min(size, l.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l)
}
