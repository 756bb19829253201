// SPDX-License-Identifier: Apache-2.0

package store

import "syscall"

// The magic numbers of file systems, from statfs(2).
const (
	magicTmpfs = 0x01021994
	magicRamfs = 0x858458f6
)

// local lists the file systems of a single machine, on which locks and mappings
// are reliable. A file system that is not listed may be shared with other
// machines.
var local = map[uint32]bool{
	magicTmpfs: true, magicRamfs: true,
	0xef53:     true, // ext2, ext3, ext4
	0x58465342: true, // XFS
	0x9123683e: true, // Btrfs
	0x2fc12fc1: true, // ZFS
	0xf2f52010: true, // F2FS
	0x794c7630: true, // overlay
	0x4d44:     true, // FAT
	0x2011bab0: true, // exFAT
	0x7366746e: true, // NTFS
	0x3153464a: true, // JFS
	0x52654973: true, // ReiserFS
	0xca451a4e: true, // bcachefs
	0x24051905: true, // UBIFS
}

// VolumeOf describes the volume of a directory.
func VolumeOf(dir string) Volume {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return Volume{}
	}
	kind := uint32(st.Type)
	return Volume{
		Size:   int64(st.Blocks) * int64(st.Bsize),
		Memory: kind == magicTmpfs || kind == magicRamfs,
		Remote: !local[kind],
	}
}
