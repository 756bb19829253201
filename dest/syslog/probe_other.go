// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package syslog

import (
	"net"
	"time"
)

func control(*net.TCPConn) (probe func() (waiting bool, age time.Duration), hurry func()) {
	return nil, nil
}
