// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package syslog

import (
	"net"
	"time"
)

func prober(*net.TCPConn) func() (waiting bool, age time.Duration) { return nil }
