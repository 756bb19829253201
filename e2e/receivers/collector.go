// SPDX-License-Identifier: Apache-2.0

//go:build linux

package receivers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"testing"

	"github.com/nib-log/nib/e2e/servers"
)

// A Collector is the OpenTelemetry Collector. It writes a request to a file
// before it responds.
type Collector struct {
	*servers.Collector
	files []string // files of the collectors that were killed
}

// StartCollector starts a Collector.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	if os.Getenv("NIB_E2E") == "" {
		t.Skip(unset)
	}
	s, err := servers.NewCollector(t.TempDir())
	if errors.Is(err, servers.ErrNoCollector) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{Collector: s}
	begin(t, c)
	return c
}

// URL implements Receiver.
func (c *Collector) URL() string { return "http://" + c.Addr + "/v1/logs" }

// Kill implements Receiver. The next Collector gets a new file, since the last
// request in this one may be incomplete.
func (c *Collector) Kill() {
	c.Collector.Kill()
	name := fmt.Sprintf("%s.%d", c.Logs, len(c.files))
	if os.Rename(c.Logs, name) == nil {
		c.files = append(c.files, name)
	}
}

// Arrivals implements Receiver.
func (c *Collector) Arrivals(t testing.TB) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		for _, name := range append(c.files, c.Logs) {
			f, err := os.Open(name)
			if name == c.Logs && errors.Is(err, fs.ErrNotExist) {
				return // the collector has had no request
			}
			if err != nil {
				t.Fatal(err)
			}
			err = readRequests(f, yield)
			_ = f.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// readRequests reads the requests in a file. The last one may be incomplete; it
// had no response.
func readRequests(r io.Reader, yield func(Arrival) bool) error {
	for dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20)); ; {
		var m struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct {
						Body       struct{ StringValue string }
						Attributes []struct {
							Key   string
							Value struct{ StringValue string }
						}
					}
				}
			}
		}
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		for _, rl := range m.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				for _, r := range sl.LogRecords {
					a := Arrival{Message: r.Body.StringValue}
					for _, kv := range r.Attributes {
						if kv.Key == uidAttribute {
							a.UID = kv.Value.StringValue
						}
					}
					if !yield(a) {
						return nil
					}
				}
			}
		}
	}
}

// uidAttribute identifies a record.
const uidAttribute = "log.record.uid"
