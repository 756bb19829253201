// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package console

import "syscall"

const getTermios = syscall.TIOCGETA
