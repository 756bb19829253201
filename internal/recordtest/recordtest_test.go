// SPDX-License-Identifier: Apache-2.0

package recordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

func TestRecorderCallsItsFunctions(t *testing.T) {
	var rec Recorder
	full := errors.New("disk full")
	rec.WriteWith(func(r *nib.Record) error {
		if rec.Len() > 0 { // it may use the Recorder
			return full
		}
		return nil
	})
	rec.FlushWith(func(ctx context.Context) error { return ctx.Err() })
	first, second := nib.Record{Line: []byte("{}\n")}, nib.Record{Line: []byte("{}\n")}
	if err := rec.WriteRecord(&first); err != nil {
		t.Errorf("first record: got error %v, want none", err)
	}
	if err := rec.WriteRecord(&second); !errors.Is(err, full) || rec.Len() != 1 {
		t.Errorf("second record: got error %v and %d records, want %v and 1", err, rec.Len(), full)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rec.Flush(ended); !errors.Is(err, context.Canceled) || rec.Flushes() != 1 {
		t.Errorf("Flush: got %v and %d calls, want an error and 1", err, rec.Flushes())
	}
	if got, want := rec.Last(), "{}"; got != want {
		t.Errorf("Last: got %q, want %q", got, want)
	}
	rec.Reset()
	if rec.Flushes() != 0 || rec.Last() != "" {
		t.Errorf("after Reset: %d flushes, last %q", rec.Flushes(), rec.Last())
	}
	err := errors.Join(rec.WriteRecord(&first), rec.WriteRecord(&second), rec.Flush(ended))
	if err != nil || rec.Len() != 2 {
		t.Errorf("after Reset: got error %v and %d records, want none and 2", err, rec.Len())
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		line string
		want map[string]any
		ok   bool
	}{
		{"{}\n", map[string]any{}, true},
		{`{"a":1,"b":"x","a":2}` + "\n", map[string]any{"a": 2.0, "b": "x"}, true},
		{"{}", nil, false},
		{"{}\n\n", nil, false},
		{"{\n}\n", nil, false},
		{"{}{}\n", nil, false},
		{"{} x\n", nil, false},
		{"[]\n", nil, false},
		{"null\n", nil, false},
		{`{"a":}` + "\n", nil, false},
		{"", nil, false},
	} {
		got, err := Decode([]byte(c.line))
		if (err == nil) != c.ok || c.ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("Decode(%q): got %v, %v; want %v, ok %v", c.line, got, err, c.want, c.ok)
		}
		if _, err := Members([]byte(c.line)); (err == nil) != c.ok {
			t.Errorf("Members(%q): got %v, want ok %v", c.line, err, c.ok)
		}
	}
}

func TestMembersKeepTheOrderAndEqualKeys(t *testing.T) {
	got, err := Members([]byte(`{"b":[1e400,{"x":null}],"a":"","b":{}}` + "\n"))
	want := []Member{
		{"b", []any{json.Number("1e400"), []Member{{"x", nil}}}}, {"a", ""}, {"b", []Member{}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
}

func TestRecorderDeliverWith(t *testing.T) {
	var rec Recorder
	batch := []nib.Record{{Line: []byte("0\n")}, {Line: []byte("1\n")}, {Line: []byte("2\n")}}
	rejected := []delivery.Rejection{{Index: 0, Reason: delivery.ErrTooLarge}}
	rec.DeliverWith(func(context.Context, []nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: 2, Rejected: rejected}, nil
	})
	res, err := rec.Deliver(t.Context(), batch)
	if res.Accepted != 2 || len(res.Rejected) != 1 || err != nil {
		t.Errorf("got %+v, %v", res, err)
	}
	if got := rec.Records(); len(got) != 1 || !bytes.Equal(got[0].Line, batch[1].Line) {
		t.Errorf("got %q, want the record that was accepted", got)
	}
	failed := errors.New("no")
	rec.FailWith(failed)
	if _, err := rec.Deliver(t.Context(), batch); err != failed {
		t.Errorf("got %v, want %v", err, failed)
	}
}
