// SPDX-License-Identifier: Apache-2.0

//go:build !linux || (!amd64 && !arm64)

package vfs

import (
	"errors"
	"os"
)

// RenameNoReplace returns an error; see [FS].
func (osFS) RenameNoReplace(oldname, newname string) error {
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: errors.ErrUnsupported}
}
