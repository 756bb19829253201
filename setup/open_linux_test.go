// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/sink/spool"
)

func TestJournal(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "journal")
	server, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must.Succeed(t, err)
	defer server.Close()
	l := mustOpen(t, Config{Format: "console", Output: []string{"journald?socket=" + socket + "&identifier=shop&level=warn"}})
	l.Info().Msg("not for this output")
	l.Warn().Int("n", 1).Msg("m")
	entry := make([]byte, 1<<10)
	n, err := server.Read(entry)
	must.Succeed(t, err)
	for _, want := range []string{"MESSAGE=m\n", "PRIORITY=4\n", "SYSLOG_IDENTIFIER=shop\n", "N=1\n"} {
		if !strings.Contains(string(entry[:n]), want) {
			t.Errorf("got %q, want it to have %q", entry[:n], want)
		}
	}
}

// The next process writes the lines that a process has left in the spool.
func TestFileBehindASpool(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "app.log"), filepath.Join(dir, "spool")
	before, err := spool.Open(kept, nil, spool.Config{Shared: true})
	must.Succeed(t, err)
	nib.NewSink(before).Info().Msg("left behind")
	must.Succeed(t, before.Close())
	l := mustOpen(t, Config{Output: []string{"file:" + path + "?spool=" + kept}})
	l.Info().Msg("new")
	must.Succeed(t, l.Close())
	text, err := os.ReadFile(path)
	must.Succeed(t, err)
	first, rest, _ := strings.Cut(string(text), "\n")
	if !strings.Contains(first, "left behind") || !strings.Contains(rest, `"new"`) || strings.Count(rest, "\n") != 1 {
		t.Errorf("got %q", text)
	}
}

// A process starts while another one has the spool, and takes over its
// remaining lines, even if the other one does not share it, as before an
// upgrade.
func TestSpoolIsShared(t *testing.T) {
	for _, shared := range []bool{true, false} {
		dir := t.TempDir()
		kept, path := filepath.Join(dir, "spool"), filepath.Join(dir, "app.log")
		other, err := spool.Open(kept, nil, spool.Config{Shared: shared})
		must.Succeed(t, err)
		l := mustOpen(t, Config{Output: []string{"file:" + path + "?spool=" + kept}})
		nib.NewSink(other).Info().Msg("left behind")
		must.Succeed(t, other.Close())
		l.Info().Msg("new")
		await.Until(t, "the line of the other process is in the file", func() bool {
			return strings.Contains(read(t, path), "left behind")
		})
		must.Succeed(t, l.Close())
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), `"new"`) {
			t.Errorf("got %q, %v; want two lines", text, err)
		}
	}
}

// A spool that cannot be opened is an error that leaves nothing open.
func TestSpoolCannotBeOpened(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "spool")
	must.Succeed(t, os.Mkdir(kept, 0o777))
	if err := os.Chmod(kept, 0o777); err != nil { // regardless of the umask
		t.Fatal(err)
	}
	c := Config{Output: []string{"file:" + filepath.Join(t.TempDir(), "app.log") + "?spool=" + kept}}
	if l, err := Open(c); err == nil || !strings.Contains(err.Error(), "other users may write") {
		t.Errorf("got %v, %v", l, err)
	}
}
