// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"hash/crc64"
	"os"
)

// Boot returns a number that differs for each boot of the system, or 0 if the
// system has no such number.
func Boot() uint64 {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	return crc64.Checksum(text, crc64.MakeTable(crc64.ISO))
}
