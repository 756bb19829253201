// SPDX-License-Identifier: Apache-2.0

//go:build unix

package logs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/cmd/nib/logs"
)

// A shell passes the output of a command as the name of a pipe: <(command).
func TestAPipeIsFollowedToItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := logs.Find([]string{path}, nil, true, time.Now())
	if err != nil || len(found) != 1 || found[0].Path != "" {
		t.Fatalf("got %+v, %v", found, err)
	}
	sources, err := logs.Tail(found, logs.Selection{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("a\nb\n"), 0o600) }()
	var out screen
	if _, err := logs.Follow(t.Context(), &out, sources, logs.Selection{}, rawLines(t)); err != nil {
		t.Error(err)
	}
	if err := <-written; err != nil || out.take() != "a b " {
		t.Errorf("got %v", err)
	}
}
