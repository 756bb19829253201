// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func TestJournal(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "journal")
	server, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	l := mustOpen(t, Config{Format: "console", Output: []Output{{To: "journald", Socket: socket, Identifier: "shop", Level: "warn"}}})
	l.Info().Msg("not for this output")
	l.Warn().Int("n", 1).Msg("m")
	entry := make([]byte, 1<<10)
	n, err := server.Read(entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MESSAGE=m\n", "PRIORITY=4\n", "SYSLOG_IDENTIFIER=shop\n", "N=1\n"} {
		if !strings.Contains(string(entry[:n]), want) {
			t.Errorf("got %q, want it to have %q", entry[:n], want)
		}
	}
}
