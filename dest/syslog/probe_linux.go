// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"net"
	"time"
)

// canWatch tells whether probe works for conn.
func canWatch(conn *net.TCPConn) bool {
	_, err := tcpInfoOf(conn)
	return err == nil
}

// probe asks TCP whether something was sent that the other side's system has not
// acknowledged, and how long ago it has acknowledged anything.
func (l *link) probe() (waiting bool, age time.Duration) {
	conn, ok := l.Conn.(*net.TCPConn)
	if !ok {
		return false, 0
	}
	info, err := tcpInfoOf(conn)
	if err != nil {
		return false, 0
	}
	return info.unacked > 0 || info.probes > 0, time.Duration(info.lastAckRecv) * time.Millisecond
}

// tcpInfoOf reads what the kernel knows about a connection.
func tcpInfoOf(conn *net.TCPConn) (info tcpInfo, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return info, err
	}
	if ctl := raw.Control(func(fd uintptr) { err = getTCPInfo(fd, &info) }); ctl != nil {
		return info, ctl
	}
	return info, err
}

// tcpInfo is the beginning of struct tcp_info of the kernel (linux/tcp.h), which only
// grows at its end.
type tcpInfo struct {
	state, caState, retransmits, probes, backoff, options, scales, limited uint8

	rto, ato, sendMSS, recvMSS                           uint32
	unacked, sacked, lost, retrans, fackets              uint32 // in packets
	lastDataSent, lastAckSent, lastDataRecv, lastAckRecv uint32 // in milliseconds, ago
}
