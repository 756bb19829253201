// SPDX-License-Identifier: Apache-2.0

//go:build (linux && !amd64 && !arm64) || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import "syscall"

func lstat(name string, st *syscall.Stat_t) error { return syscall.Lstat(name, st) }
