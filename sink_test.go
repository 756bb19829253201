// SPDX-License-Identifier: Apache-2.0

package nib_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/nib-log/nib"
)

// A recordSink keeps copies of records.
type recordSink struct {
	mu      sync.Mutex
	records []nib.Record
}

func (s *recordSink) WriteRecord(r *nib.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *r
	c.Line, c.Message = bytes.Clone(r.Line), bytes.Clone(r.Message)
	s.records = append(s.records, c)
	return nil
}

func (s *recordSink) last() nib.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) == 0 {
		return nib.Record{}
	}
	return s.records[len(s.records)-1]
}

func TestRecordDescribesItsLine(t *testing.T) {
	for _, layout := range []nib.Layout{{}, {MessageFirst: true}} {
		s := &recordSink{}
		l := nib.NewSink(s, nib.WithLayout(layout), nib.WithCaller()).Named("a").Named("b").WithGroup("g")
		l.Warn().Str("k", "v").Msg("a \"quoted\" text")
		r := s.last()
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
	s := &recordSink{}
	l := nib.NewSink(s)
	l.Log().Send()
	if r := s.last(); r.Message != nil || r.Level != nib.LevelInfo || r.PC != 0 {
		t.Errorf("got %q, %v, %#x", r.Message, r.Level, r.PC)
	}
	l.Info().Msg("")
	if r := s.last(); r.Message == nil {
		t.Error("an empty message counts as none")
	}
}

func TestRecordFieldsInOrder(t *testing.T) {
	s := &recordSink{}
	nib.NewSink(s, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})).Info().Str(`a"b`, "c").Dict("d", func(e *nib.Event) { e.Int("x", 1) }).Ints("i", []int{1, 2}).Msg("m")
	var got []string
	r := s.last()
	for k, v := range r.Fields() {
		got = append(got, fmt.Sprintf("%s=%s", k, v))
	}
	if want := []string{`level="info"`, `a\"b="c"`, `d={"x":1}`, `i=[1,2]`, `message="m"`}; !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestWriterThatIsASinkIsUsedAsOne(t *testing.T) {
	s := &writerSink{}
	nib.New(s).Info().Msg("x")
	if s.records != 1 || s.writes != 0 {
		t.Errorf("got %d records and %d writes, want 1 and 0", s.records, s.writes)
	}
}

type writerSink struct{ records, writes int }

func (s *writerSink) WriteRecord(*nib.Record) error { s.records++; return nil }
func (s *writerSink) Write(p []byte) (int, error)   { s.writes++; return len(p), nil }

type sinkFunc func(r *nib.Record) error

func (f sinkFunc) WriteRecord(r *nib.Record) error { return f(r) }
