// SPDX-License-Identifier: Apache-2.0

package stdiotest

import (
	"os"
	"syscall"
	"testing"
)

// Fill writes to a pipe, which is still in non-blocking mode, until it is full.
func Fill(t testing.TB, w *os.File) {
	t.Helper()
	conn, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	_ = conn.Control(func(fd uintptr) {
		for page := make([]byte, 4096); err == nil; pages++ {
			_, err = syscall.Write(int(fd), page)
		}
	})
	if err != syscall.EAGAIN || pages < 2 {
		t.Fatalf("got %v after %d pages, want a full pipe", err, pages)
	}
}
