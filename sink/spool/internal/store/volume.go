// SPDX-License-Identifier: Apache-2.0

package store

// A Volume describes the file system of a spool. Unknown fields are 0.
type Volume struct {
	Size   int64 // size in bytes
	Memory bool  // the files are in memory, and are lost with the system or the container
	Remote bool  // shared with other machines: locks and mappings are not reliable
}
