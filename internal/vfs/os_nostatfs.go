// SPDX-License-Identifier: Apache-2.0

//go:build netbsd || openbsd

package vfs

import "errors"

func (f *osFile) Free() (int64, error) { return 0, errors.ErrUnsupported }
