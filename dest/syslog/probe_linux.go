// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"net"
	"syscall"
	"time"
)

// control returns the probe and quickAck functions of a link, nil if the system
// does not support them.
func control(conn *net.TCPConn) (probe func() (waiting bool, age time.Duration), quickAck func()) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, nil
	}
	set := func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) }
	quickAck = func() { _ = raw.Control(set) }
	ask := func() (info tcpInfo, err error) {
		if ctl := raw.Control(func(fd uintptr) { err = getTCPInfo(fd, &info) }); ctl != nil {
			return info, ctl
		}
		return info, err
	}
	if _, err := ask(); err != nil {
		return nil, quickAck
	}
	probe = func() (bool, time.Duration) {
		info, err := ask()
		if err != nil {
			return false, 0 // the socket is closed
		}
		// Unacknowledged packets, and zero-window probes.
		return info.unacked > 0 || info.probes > 0, time.Duration(info.lastAckRecv) * time.Millisecond
	}
	return probe, quickAck
}

// tcpInfo is the beginning of struct tcp_info of the kernel (linux/tcp.h),
// which only grows at its end.
type tcpInfo struct {
	state, caState, retransmits, probes, backoff, options, scales, limited uint8

	rto, ato, sendMSS, recvMSS                           uint32
	unacked, sacked, lost, retrans, fackets              uint32 // counted in packets
	lastDataSent, lastAckSent, lastDataRecv, lastAckRecv uint32 // milliseconds ago
}
