// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"errors"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/setup"
	"github.com/nib-log/nib/sink/file"
)

// The examples of the document on files.

func open(path string) (*nib.Logger, *file.Sink, error) {
	out, err := file.Open(path, file.Config{MaxSize: 100 << 20, MaxBackups: 7, Compress: file.Gzip{}})
	if err != nil {
		return nil, nil, err
	}
	return nib.NewSink(out), out, nil // and out.Close when the program ends
}

func service() error {
	log, err := setup.Open(setup.FromEnv("NIB"))
	if err != nil {
		return err
	}
	defer log.Close()
	log.Info().Msg("started")
	return nil
}

var bySize = file.Config{
	MaxSize: 100 << 20, // no file has more, unless one line has
}

var byTime = file.Config{
	Every: time.Hour, // each full hour, UTC
}

var atMidnight = file.Config{
	At:   []string{"00:00"}, // as the clock on the wall has it,
	Zone: time.Local,        // which is the default
}

var retention = file.Config{
	MaxSize:    100 << 20,
	Every:      24 * time.Hour,
	MaxBackups: 30,                  // so many old files,
	MaxAge:     30 * 24 * time.Hour, // none of them ended longer ago,
	MaxTotal:   2 << 30,             // and no more bytes than that in all
	Compress:   file.Gzip{},         // by a goroutine, after the rotation
}

var buffered = file.Config{
	Buffer: 64 << 10,
	Delay:  5 * time.Millisecond, // default 10 ms
}

var careful = file.Config{
	MinFree: 1 << 30, // left to others on the file system
	Mode:    0o640,   // less the umask; default 0600
	Sync:    file.SyncFlush,
	OnError: func(err error) { log.Print(err) }, // not through the logger that has the fault
}

func reopenOnHangup(out *file.Sink) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for range hangup {
			if err := out.Reopen(); err != nil {
				log.Print(err)
			}
		}
	}()
}

func oldLogger(path string) (zerolog.Logger, *lumberjack.Logger) {
	out := &lumberjack.Logger{
		Filename:   path,
		MaxSize:    100, // MB
		MaxBackups: 7,
		MaxAge:     30, // days
		Compress:   true,
	}
	return zerolog.New(out).With().Timestamp().Logger(), out
}

func newLogger(path string) (*nib.Logger, *file.Sink, error) {
	out, err := file.Open(path, file.Config{
		MaxSize:    100 << 20, // bytes
		MaxBackups: 7,
		MaxAge:     30 * 24 * time.Hour,
		Compress:   file.Gzip{},
	})
	if err != nil {
		return nil, nil, err
	}
	return nib.NewSink(out), out, nil
}

func TestConfigsOfTheDocumentAreValid(t *testing.T) {
	for i, c := range []file.Config{bySize, byTime, atMidnight, retention, buffered, careful} {
		out, err := file.Open(filepath.Join(t.TempDir(), "app.log"), c)
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			t.Errorf("config %d: %v", i, err)
		}
	}
}

// Loggers of the document write to the same place.
func TestLoggersOfTheDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	before, oldOut := oldLogger(path)
	before.Info().Msg("started")
	errs := []error{oldOut.Close()}
	defer signal.Reset(syscall.SIGHUP)
	for _, open := range []func(string) (*nib.Logger, *file.Sink, error){newLogger, open} {
		log, out, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		reopenOnHangup(out)
		log.Info().Msg("started")
		errs = append(errs, out.Close())
	}
	t.Setenv("NIB_OUTPUT", "file:"+path+"?max_size=100MB&backups=7&compress=gzip")
	errs = append(errs, service())
	text, err := os.ReadFile(path)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil || strings.Count(string(text), "started") != 4 {
		t.Errorf("%q, %v, want a line of each logger", text, err)
	}
}
