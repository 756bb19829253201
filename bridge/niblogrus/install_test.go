// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/sirupsen/logrus"
)

func TestInstallStandsBehindAllHooks(t *testing.T) {
	var before bytes.Buffer
	var rec recordtest.Recorder
	l := logrus.New()
	l.SetOutput(&before)
	l.SetFormatter(&logrus.JSONFormatter{DisableTimestamp: true})
	niblogrus.Install(l, nib.NewSink(&rec, withoutTime()))
	later := new(countingHook)
	l.AddHook(later)
	l.WithField("a", 1).Info("m")
	checkLast(t, &rec, `{"level":"info","a":1,"added":1,"message":"m"}`)
	if want := `{"a":1,"level":"info","msg":"m"}` + "\n"; later.text != want {
		t.Errorf("text for hooks: got %q, want %q", later.text, want)
	}
	if before.Len() != 0 || rec.Len() != 1 {
		t.Errorf("got %q from logrus and %d lines, want nothing and 1", before.String(), rec.Len())
	}
}

// A failingHook has lost its server.
type failingHook struct{}

func (failingHook) Levels() []logrus.Level   { return logrus.AllLevels }
func (failingHook) Fire(*logrus.Entry) error { return errors.New("no connection") }

func TestInstallWritesEntriesThatAHookHasFailedOn(t *testing.T) {
	l, rec := installed(withoutTime())
	l.AddHook(failingHook{})
	null, err := os.Open(os.DevNull)
	must.Succeed(t, err)
	defer null.Close()
	defer func(stderr *os.File) { os.Stderr = stderr }(os.Stderr) // where logrus says so
	os.Stderr = null
	l.Info("m")
	checkLast(t, rec, `{"level":"info","message":"m"}`)
}

func TestInstallOnALoggerWithoutAnything(t *testing.T) {
	var rec recordtest.Recorder
	l := &logrus.Logger{Level: logrus.InfoLevel}
	niblogrus.Install(l, nib.NewSink(&rec, withoutTime()))
	l.Info("m")
	checkLast(t, &rec, `{"level":"info","message":"m"}`)
	if s, err := logrus.NewEntry(l).String(); s != "" || err != nil {
		t.Errorf("text of an entry: got %q and %v, want none", s, err)
	}
}

func TestInstallAndAnotherFormatterAfterIt(t *testing.T) {
	l, rec := installed(withoutTime())
	l.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true})
	l.WithField("a", 1).Info("m")
	checkLast(t, rec, `{"message":"level=info msg=m a=1"}`)
}

func TestInstallWithoutALogger(t *testing.T) {
	l := logrus.New()
	niblogrus.Install(l, nil)
	l.Info("discarded")
	l.SetFormatter(&logrus.JSONFormatter{})
	l.Info("discarded")
}
