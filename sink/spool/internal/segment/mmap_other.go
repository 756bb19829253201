// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package segment

import (
	"errors"

	"github.com/nib-log/nib/internal/vfs"
)

// CanMap reports whether segments can be mapped on this system; otherwise they
// are written; see twin.
const CanMap = false

func mapFile(vfs.File, int) ([]byte, func(), error) { return nil, nil, errors.ErrUnsupported }

func AdviseRandom([]byte) {}

func Prefault([]byte, func()) {}

func populate([]byte) bool { return true }

func syncPages([]byte) error { return errors.ErrUnsupported }

func Prefetch([]byte) {}

func DiscardPages([]byte) {}
