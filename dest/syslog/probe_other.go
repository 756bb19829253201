// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package syslog

import (
	"net"
	"time"
)

func canWatch(*net.TCPConn) bool { return false }

func (l *link) probe() (waiting bool, age time.Duration) { return false, 0 }
