// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// Deliver and Ping wrap these faults of a connection.
var (
	errEnded  = errors.New("the receiver has closed the connection")
	errSilent = errors.New("no answer from the receiver")
)

// wrap adds the destination to an error.
func (d *Destination) wrap(err error) error {
	return fmt.Errorf("nib/syslog: %s %s: %w", d.network, d.addr, err)
}

// plain removes the addresses from an error of package net: the number of the
// local port would make each failure look like a new one.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op != "dial" {
		return withCall(op)
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}

// withCall adds the operation, unless the error already has the name of a
// system call.
func withCall(op *net.OpError) error {
	var call *os.SyscallError
	if errors.As(op.Err, &call) {
		return call
	}
	return fmt.Errorf("%s: %w", op.Op, op.Err)
}
