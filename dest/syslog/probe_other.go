// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package syslog

import (
	"net"
	"time"
)

func control(*net.TCPConn) (probe func() (waiting bool, age time.Duration), quickAck func()) {
	return nil, nil
}
