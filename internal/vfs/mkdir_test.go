// SPDX-License-Identifier: Apache-2.0

//go:build unix

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Slots of a shared spool are removed by one process while another one makes
// them.
func TestMkdirAllOfADirectoryThatOthersRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "slot")
	end := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			default:
				_ = os.Mkdir(dir, 0o700)
				_ = os.Remove(dir)
			}
		}
	}()
	for range 20_000 {
		if err := OS().MkdirAll(dir, 0o700); err != nil {
			t.Error(err)
			break
		}
	}
	close(end)
	<-done
}

func TestMkdirAllOfALinkToNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "missing"), dir); err != nil {
		t.Skip("no symbolic links:", err)
	}
	if err := OS().MkdirAll(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want %v", err, fs.ErrExist)
	}
}
