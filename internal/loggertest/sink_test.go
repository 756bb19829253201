// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
)

// last returns the record that arrived last.
func last(rec *recordtest.Recorder) nib.Record {
	all := rec.Records()
	if len(all) == 0 {
		return nib.Record{}
	}
	return all[len(all)-1]
}

func TestRecordDescribesItsLine(t *testing.T) {
	for _, layout := range []nib.Layout{{}, {MessageFirst: true}} {
		s := new(recordtest.Recorder)
		l := nib.NewSink(s, nib.WithLayout(layout), nib.WithCaller()).Named("a").Named("b").WithGroup("g")
		l.Warn().Str("k", "v").Msg("a \"quoted\" text")
		r := last(s)
		if _, err := parseLine(r.Line); err != nil {
			t.Error(err)
		}
		if r.Level != nib.LevelWarn || r.Logger != "a.b" || r.PC == 0 || string(r.Message) != `a \"quoted\" text` {
			t.Errorf("MessageFirst %v\n got %v %q %#x %q", layout.MessageFirst, r.Level, r.Logger, r.PC, r.Message)
		}
		for key, want := range map[string]string{"message": `"a \"quoted\" text"`, "logger": `"a.b"`, "g": `{"k":"v"}`, "level": `"warn"`} {
			if got, ok := r.Lookup(key); !ok || string(got) != want {
				t.Errorf("Lookup(%q)\n got %s, %v\nwant %s", key, got, ok, want)
			}
		}
		if _, ok := r.Lookup("k"); ok {
			t.Error("Lookup finds a key inside of a group")
		}
	}
}

func TestRecordWithoutMessage(t *testing.T) {
	s := new(recordtest.Recorder)
	l := nib.NewSink(s)
	l.Log().Send()
	if r := last(s); r.Message != nil || r.Level != nib.LevelInfo || r.PC != 0 {
		t.Errorf("got %q, %v, %#x", r.Message, r.Level, r.PC)
	}
	l.Info().Msg("")
	if r := last(s); r.Message == nil {
		t.Error("an empty message counts as none")
	}
}

func TestRecordFieldsInOrder(t *testing.T) {
	s := new(recordtest.Recorder)
	nib.NewSink(s, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})).Info().Str(`a"b`, "c").Dict("d", func(e *nib.Event) { e.Int("x", 1) }).Ints("i", []int{1, 2}).Msg("m")
	var got []string
	r := last(s)
	for k, v := range r.Fields() {
		got = append(got, fmt.Sprintf("%s=%s", k, v))
	}
	if want := []string{`level="info"`, `a\"b="c"`, `d={"x":1}`, `i=[1,2]`, `message="m"`}; !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestWriterThatIsASinkIsUsedAsOne(t *testing.T) {
	s := new(writerSink)
	nib.New(s).Info().Msg("x")
	if s.Recorder.Len() != 1 || s.Buffer.Len() != 0 {
		t.Errorf("got %d records and %d bytes, want 1 and 0", s.Recorder.Len(), s.Buffer.Len())
	}
}

type writerSink struct {
	recordtest.Recorder
	bytes.Buffer
}

type sinkFunc func(r *nib.Record) error

func (f sinkFunc) WriteRecord(r *nib.Record) error { return f(r) }
