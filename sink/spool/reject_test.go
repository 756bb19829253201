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
	"github.com/nib-log/nib/internal/deadletter"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// picky returns a destination that rejects every third record.
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

// TestRejectedAreKept checks that rejected records are stored with number,
// reason and line, after a line that a crash has cut off.
func TestRejectedAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	must(t, os.MkdirAll(dir, 0o700))
	name := filepath.Join(dir, "picky"+deliver.RejectedExt)
	must(t, os.WriteFile(name, []byte(`{"seq":0,"rea`), 0o600))
	s := open(t, dir, picky(errors.New("bad \"field\"\n"+strings.Repeat("x",
		2*deadletter.MaxReason))), Config{Name: "picky", SegmentSize: segment.MinSize})
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
		if got.Seq != uint64(3*i+3) || !strings.HasPrefix(got.Reason, "bad \"field\"\n") ||
			len(got.Reason) != deadletter.MaxReason || string(got.Line) != want {
			t.Errorf("line %d: got %.200q", i, line)
		}
	}
	if want := `"line":"no\njson"}` + "\n"; !bytes.HasSuffix(lines[11], []byte(want)) {
		t.Errorf("got %q, want %q", lines[11], want)
	}
	if d := of(t, checkIdentity(t, s), "picky"); d.Unsaved != 0 || d.Lost() != 11 {
		t.Errorf("got %+v, want 11 lost, none unsaved", d)
	}
}

// TestRejectedAreBounded checks that rejected lines that do not fit or cannot
// be written are counted.
func TestRejectedAreBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		size    int64
		fail    error
		unsaved uint64
	}{
		{"some room", 400, nil, 8}, {"none", -1, nil, 10}, {"enough", 0, nil, 0}, {"fault", 0, syscall.EIO, 10},
	} {
		m := vfstest.NewMem(nil)
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + deliver.RejectedExt, Err: c.fail})
		f := picky(nil)
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, RejectedSize: c.size})
		for n := range 30 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
		}
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		if d := of(t, st, defaultName); d.Unsaved != c.unsaved || d.Delivered != 20 ||
			(st.Errors > 0) != (c.fail != nil) {
			t.Errorf("%s: got %+v, want %d unsaved and 20 delivered", c.name, d, c.unsaved)
		}
		info, err := m.Lstat(filepath.Join(memDir, defaultName+deliver.RejectedExt))
		if err == nil && c.size > 0 && info.Size > c.size {
			t.Errorf("%s: got %d bytes, want %d at most", c.name, info.Size, c.size)
		}
		must(t, s.Close())
	}
}
