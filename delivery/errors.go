// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"errors"

	"github.com/nib-log/nib/internal/stdio"
)

// The errors that sinks, spools and destinations have in common. Errors that
// they return, pass to an error handler or store in a [Rejection] wrap one of
// these if it applies, prefixed with the package and details; test for it with
// errors.Is.
var (
	// ErrClosed means that a method was called after Close.
	ErrClosed = errors.New("used after Close")

	// ErrTooLarge means that a line is longer than the sink or destination
	// accepts, for example longer than a segment of a spool, a datagram, or a
	// request to a broker. It will not be accepted later either.
	ErrTooLarge = errors.New("the line is too long")

	// ErrFull means that there is no room: a spool is full, or a disk is.
	ErrFull = errors.New("no room left")

	// ErrStalled means that the reader of the sink or destination did not read
	// within the time limit. Its text is "the receiver has stopped reading".
	ErrStalled = stdio.ErrReceiverStalled
)
