// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// accessText returns the access line of a request as the service writes it.
func accessText(connection, n int) string {
	want := expect(n)
	return fmt.Sprintf(`{"time":"2026-11-21T09:30:00.123Z","level":%q,"method":%q,"path":%q,"status":%d,"bytes":%d,"took":1,"remote":"x","request_id":%q,"message":"request"}`+"\n",
		want.level(), want.method, itemPath(n), want.status, len(want.body), requestID(connection, n))
}

// TestLedgerDecidesWhatIsLost compares files of three requests with their
// records.
func TestLedgerDecidesWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		name             string
		call             call // of request 1
		cut, there       bool
		delivered, lost  int
		midCall, dropped int
	}{
		{"returned and there", returned, false, true, 3, 0, 0, 0},
		{"returned and not there", returned, false, false, 2, 1, 0, 0},
		{"returned, cut off and not there", returned, true, false, 2, 1, 0, 0},
		{"cut off and there", unknown, true, true, 3, 0, 1, 0},
		{"cut off and not there", unknown, true, false, 2, 0, 0, 0},
		{"answered, not reported and not there", unknown, false, false, 2, 1, 0, 0},
		{"dropped and not there", refused, false, false, 2, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLedger(plan{requests: 3, connections: 1})
			text := accessText(0, 0)
			for n := range 3 {
				key := lineKey{accessLine, 0, n}
				switch {
				case n != 1:
					l.note(key, returned)
				case c.call != unknown:
					l.note(key, c.call)
				}
				if n > 0 && (n != 1 || c.there) {
					text += accessText(0, n)
				}
			}
			l.cut[0][1] = c.cut
			path := filepath.Join(t.TempDir(), logName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := checkFiles([]string{path}, l)
			if err != nil {
				t.Fatal(err)
			}
			if got.delivered != c.delivered || got.lost != c.lost || got.midCall != c.midCall || l.dropped != c.dropped {
				t.Errorf("got %+v and %d dropped", got, l.dropped)
			}
			if got.ok() != (c.lost == 0) {
				t.Errorf("got ok %v: %q", got.ok(), got.examples)
			}
		})
	}
}

func TestFramesComeBack(t *testing.T) {
	key := lineKey{accessLine, 200, 9_999_999}
	var b []byte
	b = appendFrame(b, frameLine, key.append(nil))
	b = appendFrame(b, frameText, bytes.Repeat([]byte("x"), 10_000))
	b = appendFrame(b, frameUp, nil)
	whole := len(b)
	b = appendFrame(b, frameEnd, []byte("{}"))
	for cut := whole; cut < len(b); cut++ {
		in := bytes.NewReader(b[:cut])
		var kinds []byte
		var buf [4096]byte
		for {
			kind, rest, err := readFrame(in, &buf)
			if err == io.EOF {
				break
			}
			kinds = append(kinds, kind)
			if k, ok := readKey(rest); kind == frameLine && (!ok || k != key) {
				t.Errorf("got %v, want %v", k, key)
			}
			if kind == frameText && len(rest) != 4096-frameHead {
				t.Errorf("got %d bytes, want %d", len(rest), 4096-frameHead)
			}
		}
		if string(kinds) != "ltu" {
			t.Errorf("cut at %d: got the frames %q, want ltu", cut, kinds)
		}
	}
}

func TestKillMoments(t *testing.T) {
	for _, c := range []struct {
		requests, kills int
		want            []int64
	}{
		{50_000, 1, []int64{25_000}}, {9, 2, []int64{3, 6}}, {1, 1, []int64{1}}, {2, 5, []int64{1}}, {100, 0, nil},
		{1 << 30, 3, []int64{1 << 28, 1 << 29, 3 << 28}},
	} {
		if got := killMoments(c.requests, c.kills); !slices.Equal(got, c.want) {
			t.Errorf("%d requests, %d kills: got %d, want %d", c.requests, c.kills, got, c.want)
		}
	}
}

// TestWorkerFaultsAreReported starts a service that cannot open its spool.
func TestWorkerFaultsAreReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, spoolName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startWorker(job{Dir: dir, Requests: 1, Connections: 1}, newLedger(plan{1, 1}), func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.await(); err == nil || !bytes.Contains([]byte(err.Error()), []byte("nib/spool: open")) {
		t.Errorf("got %v", err)
	}

	// A worker that cannot be started leaves the one before, which has ended.
	defer func() { executable = os.Executable }()
	executable = func() (string, error) { return "", errors.New("no program") }
	l := &load{worker: p, result: new(result)}
	if _, err := l.start(); err == nil || err.Error() != "no program" {
		t.Errorf("start: got error %v", err)
	}
	l.worker.kill()
}
