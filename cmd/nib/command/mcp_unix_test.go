// SPDX-License-Identifier: Apache-2.0

//go:build unix

package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A call that is cancelled stops reading, and the server goes on.
func TestMCPCallIsCancelled(t *testing.T) {
	dir := t.TempDir()
	log, pipe := store(t, dir, "app.log", first, ""), filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	s := connect(t, log, pipe)
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{
			Name: "stat", Arguments: map[string]any{"files": []string{pipe}},
		})
		called <- err
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	must(t, err)
	defer w.Close()
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for err == nil { // until the reader has closed the pipe
		_, err = w.WriteString(first + "\n")
	}
	if !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
	if text, isError := ask(t, s, "search", `{"files":["`+log+`"]}`); isError ||
		len(text) != 1 || text[0] != first+"\n" {
		t.Errorf("got %q", text)
	}
}
