// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package setup

import "os"

func crashPipe() (r, w *os.File, err error) { return os.Pipe() }

func widen(*os.File) {}
