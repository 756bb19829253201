// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
)

// picky is a destination that refuses every third record.
func picky(reason error) *far {
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		res := delivery.Result{Accepted: len(batch)}
		for i, r := range batch {
			if r.Seq%3 == 0 {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: reason})
			}
		}
		return res, nil, false
	})
	return f
}

// TestRejectedAreKept with number, reason and line, behind what a crash has cut off.
func TestRejectedAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	must(t, os.MkdirAll(dir, 0o700))
	name := filepath.Join(dir, "picky"+rejectedExt)
	must(t, os.WriteFile(name, []byte(`{"seq":0,"rea`), 0o600))
	s := open(t, dir, picky(errors.New("bad \"field\"\n"+strings.Repeat("x", 2*maxReason))), Config{Name: "picky", SegmentSize: minSegment})
	for n := range 30 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n+1, 100)))
	}
	for range 3 {
		must(t, s.WriteRecord(&nib.Record{Line: []byte("no\njson\n")}))
	}
	must(t, s.Flush(context.Background()))
	text, err := os.ReadFile(name)
	must(t, err)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines) != 13 || len(lines[0]) != 14 {
		t.Fatalf("got %d lines, the first %q, want what was there and 11 lines", len(lines), lines[0])
	}
	for i, line := range lines[1:11] {
		var got struct {
			Seq    uint64
			Reason string
			Line   json.RawMessage
		}
		must(t, json.Unmarshal(line, &got))
		want := string(bytes.TrimSpace(record(nib.LevelInfo, int(got.Seq), 100).Line))
		if got.Seq != uint64(3*i+3) || !strings.HasPrefix(got.Reason, "bad \"field\"\n") || len(got.Reason) != maxReason || string(got.Line) != want {
			t.Errorf("line %d: got %.200q", i, line)
		}
	}
	if want := `"line":"no\njson"}` + "\n"; !bytes.HasSuffix(lines[11], []byte(want)) {
		t.Errorf("got %q, want %q", lines[11], want)
	}
	if d := of(t, checkIdentity(t, s), "picky"); d.Unkept != 0 || d.Lost() != 11 {
		t.Errorf("got %+v, want 11 lost, none unkept", d)
	}
}

// TestRejectedAreBounded: what does not fit is counted, and goes no further. So is what cannot be written.
func TestRejectedAreBounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int64
		fail   error
		unkept uint64
	}{
		{"some room", 400, nil, 8}, {"none", -1, nil, 10}, {"enough", 0, nil, 0}, {"fault", 0, syscall.EIO, 10},
	} {
		m := vfs.NewMem(nil)
		m.Fail(vfs.Fault{Op: vfs.OpWrite, Path: "*" + rejectedExt, Err: c.fail})
		f := picky(nil)
		s := open(t, memDir, f, Config{SegmentSize: minSegment, fs: m, RejectedSize: c.size})
		for n := range 30 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
		}
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		if d := of(t, st, defaultName); d.Unkept != c.unkept || d.Delivered != 20 || (st.Errors > 0) != (c.fail != nil) {
			t.Errorf("%s: got %+v, want %d unkept and 20 delivered", c.name, d, c.unkept)
		}
		if info, err := m.Lstat(filepath.Join(memDir, defaultName+rejectedExt)); err == nil && c.size > 0 && info.Size > c.size {
			t.Errorf("%s: got %d bytes, want %d at most", c.name, info.Size, c.size)
		}
		must(t, s.Close())
	}
}
