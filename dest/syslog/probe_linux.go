// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"net"
	"syscall"
	"time"
)

// control returns the probe and quickAck functions of a link, nil if the system
// does not support them.
func control(conn *net.TCPConn) (probe func() peerState, quickAck func()) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, nil
	}
	set := func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	}
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
	probe = func() peerState {
		info, err := ask()
		if err != nil {
			return peerState{} // the socket is closed
		}
		return peerState{
			waiting: info.unacked > 0 || info.probes > 0, // packets, or zero-window probes
			unsent:  info.notSent > 0,
			age:     time.Duration(info.lastAckRecv) * time.Millisecond,
		}
	}
	return probe, quickAck
}

// tcpInfo is the beginning of struct tcp_info of the kernel (linux/tcp.h),
// which only grows at its end.
type tcpInfo struct {
	_           [3]uint8
	probes      uint8
	_           [4]uint8
	_           [4]uint32
	unacked     uint32 // packets
	_           [7]uint32
	lastAckRecv uint32 // milliseconds ago
	_           [21]uint32
	notSent     uint32 // bytes; Linux 4.6 and later
}
