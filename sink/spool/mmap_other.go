// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spool

import (
	"errors"

	"github.com/nib-log/nib/internal/vfs"
)

const mapped = false

// mapFile is where a twin for systems without mappings begins.
func mapFile(vfs.File, int) ([]byte, func(), error) { return nil, nil, errors.ErrUnsupported }
