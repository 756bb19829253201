// SPDX-License-Identifier: Apache-2.0

package store

// A Volume describes the file system of a spool. Unknown fields are 0.
type Volume struct {
	Size   int64  // in bytes
	Memory bool   // its files are memory, and end with the system or the container
	ID     uint64 // distinguishes its snapshots where these have their files' inodes
	Remote bool   // other machines share it: locks and mappings are not reliable
}
