// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

// SyncData is Sync, which on darwin is the only call that also flushes the
// cache of the disk.
func (f *osFile) SyncData() error { return f.Sync() }

// Preallocate writes zeros.
func (f *osFile) Preallocate(size int64) error { return fill(f.File, size) }
