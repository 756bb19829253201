// SPDX-License-Identifier: Apache-2.0

//go:build linux

package syslog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
)

// patience is how long a test waits for an event that must happen.
const patience = 3 * time.Minute

// counts picks a number by NIB_E2E.
func counts(short, full int) int {
	if os.Getenv("NIB_E2E") == "full" {
		return full
	}
	return short
}

// start starts an rsyslog that is ended with the test, or skips the test.
func start(t *testing.T, c servers.RsyslogConfig) *servers.Rsyslog {
	t.Helper()
	r, err := servers.StartRsyslog(t.TempDir(), c)
	if errors.Is(err, servers.ErrNoRsyslog) {
		t.Skip(err)
	}
	must.Succeed(t, err)
	t.Cleanup(func() { _ = r.Stop() })
	return r
}

// address returns where an rsyslog takes a network's messages.
func address(r *servers.Rsyslog, network string) string {
	switch network {
	case "unixgram":
		return r.Datagram
	case "unix":
		return r.Stream
	case "relp", "relp+tls":
		return r.RELP
	}
	return r.TCP
}

func dial(t *testing.T, network, addr string, c syslog.Config) *syslog.Destination {
	t.Helper()
	d, err := syslog.New(network, addr, c)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// deliver delivers lines as a spool does, again after errors.
func deliver(t *testing.T, d *syslog.Destination, lines []string) {
	t.Helper()
	const most = 1024
	batch := make([]nib.Record, 0, most)
	began := time.Now()
	for n := 0; n < len(lines); {
		batch = batch[:0]
		for i := n; i < min(len(lines), n+most); i++ {
			batch = append(batch, nib.Record{Time: time.Now().UnixNano(), Line: []byte(lines[i] + "\n"), Spool: 1, Seq: uint64(i)})
		}
		res, err := d.Deliver(context.Background(), batch)
		for _, r := range res.Rejected {
			t.Fatalf("line %d is rejected: %v", n+r.Index, r.Reason)
		}
		n += res.Accepted
		if err != nil && time.Since(began) > patience {
			t.Fatalf("%d of %d lines: %v", n, len(lines), err)
		}
	}
}

// arrived waits until the file of lines has n and returns them.
func arrived(t *testing.T, r *servers.Rsyslog, n int) []string {
	t.Helper()
	var text []byte
	defer func() {
		if t.Failed() {
			self, _ := os.ReadFile(r.Self)
			t.Logf("%d of %d lines have arrived; rsyslog reports:\n%s", bytes.Count(text, []byte{'\n'}), n, self)
		}
	}()
	await.Until(t, "the lines have arrived", func() bool {
		var err error
		if text, err = os.ReadFile(r.Out); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte{'\n'}) >= n
	})
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// tally is the outcome of lines that are numbered from 0.
type tally struct {
	lost, gaps, twice, back int // lines, places, lines, steps back
	torn                    int // lines that the receiver was writing when it was killed
}

// count reads the numbers of the lines that have arrived. A receiver that was
// killed may have written a part of a line, before the lines of the next
// receiver.
func count(t *testing.T, path string, sent, kills int) (c tally) {
	t.Helper()
	f, err := os.Open(path)
	must.Succeed(t, err)
	defer f.Close()
	seen, last := make([]bool, sent), -1
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ N *int }
		text := lines.Bytes()
		if at := bytes.LastIndex(text, []byte(`{"time":`)); at > 0 && c.torn < kills && !json.Valid(text) {
			c.torn++
			text = text[at:]
		}
		if err := json.Unmarshal(text, &line); err != nil || line.N == nil || *line.N >= sent {
			t.Errorf("a line that was never sent: %.200q", lines.Text())
			continue
		}
		if seen[*line.N] {
			c.twice++
		}
		if *line.N < last {
			c.back++
		}
		seen[*line.N], last = true, *line.N
	}
	for i, ok := range seen {
		if !ok {
			c.lost++
			if i == 0 || seen[i-1] {
				c.gaps++
			}
		}
	}
	return c
}

func (c tally) String() string {
	return fmt.Sprintf("%d lost in %d gaps, %d torn, %d twice, %d steps back", c.lost, c.gaps, c.torn, c.twice, c.back)
}

func TestCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	text := `{"time":"x","n":0}` + "\n" + `{"time":"x","n":1,"path{"time":"x","n":2}` + "\n" + `{"time":"x","n":2}` + "\n" + `{"time":"x","n":1}` + "\n"
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	if got, want := count(t, path, 5, 1), (tally{lost: 2, gaps: 1, torn: 1, twice: 1, back: 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
