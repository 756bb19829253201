// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"
	"regexp"
	"testing"
)

// TestVolumes describes file systems that every Linux has.
func TestVolumes(t *testing.T) {
	if got := VolumeOf("/missing"); got != (Volume{}) {
		t.Errorf("a missing directory: got %+v, want nothing", got)
	}
	if got := VolumeOf("/proc"); got.Memory || !got.Remote {
		t.Errorf("an unknown file system: got %+v, want that locks are not reliable there", got)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	if !regexp.MustCompile(`(?m) /dev/shm .* - tmpfs `).Match(mounts) {
		t.Skip("no file system in memory is mounted")
	}
	if got := VolumeOf("/dev/shm"); !got.Memory || got.Remote || got.Size == 0 {
		t.Errorf("a file system in memory: got %+v", got)
	}
}
