// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package store

import (
	"io"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

// lockFile locks the file called name until it is closed or the process ends.
func lockFile(fsys vfs.FS, name string) (io.Closer, error) {
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Lock(vfs.Exclusive); err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}
