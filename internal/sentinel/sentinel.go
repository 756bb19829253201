// SPDX-License-Identifier: Apache-2.0

// Package sentinel has the errors that package delivery exports, for packages
// that delivery itself depends on.
package sentinel

import "errors"

var (
	ErrClosed   = errors.New("used after Close")
	ErrTooLarge = errors.New("the line is too long")
	ErrFull     = errors.New("no room left")
	ErrStalled  = errors.New("the receiver has stopped reading")
)
