// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spool

import (
	"errors"

	"github.com/nib-log/nib/internal/vfs"
)

// mapped reports that segments are mapped here; else they are written, see
// twin.
const mapped = false

func mapFile(vfs.File, int) ([]byte, func(), error) { return nil, nil, errors.ErrUnsupported }

func hurry([]byte) {}

func warm([]byte, func()) {}

func populate([]byte) bool { return true }

func fetch([]byte) {}

func zap([]byte) {}
