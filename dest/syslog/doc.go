// SPDX-License-Identifier: Apache-2.0

// Package syslog sends records to a syslog receiver, such as rsyslog, as RFC
// 5424 messages over unix sockets, TCP, TLS (RFC 5425) or RELP. A [Destination]
// is used behind a spool, which stores unsettled records and delivers them
// again:
//
//	d, err := syslog.New("relp", "logs.example.com:2514", syslog.Config{AppName: "shop"})
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	s, err := spool.Open("/var/spool/shop", d, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s)
//
// # Delivery guarantees
//
// When a record is settled depends on the network:
//
//   - relp, relp+tls: the receiver has acknowledged it. Records without a
//     response when a connection fails, at most Config.Window, are sent again
//     and may be duplicated.
//   - tcp, tls, unix: the socket has accepted it. Records that the receiver had
//     not read when it ended are lost; a batch during which the end of the
//     connection is noticed is sent again.
//   - unixgram, and unix if the socket is one of datagrams: it is in the
//     receiver's queue, which is lost with the receiver.
//
// Config.SequenceID numbers the records, so that a receiver can count missing
// and duplicate records.
//
// # Messages
//
// The message is the line without its newline, byte for byte. The header has
// the time of the record in UTC with six digits of the fraction; the facility;
// a severity by level: debug (7) for trace and debug, informational (6), notice
// (5) from nib.LevelInfo+2 on, warning (4), error (3), critical (2) for panic,
// alert (1) for fatal, never emergency (0); names of host, program and process;
// as MSGID the name of the logger. There is no byte order mark: JSON must not
// start with one, and receivers treat it as part of the message.
//
// If a message exceeds Config.MaxSize, its longest strings are truncated; it
// stays valid JSON, and a field "truncated" has the number of missing bytes.
// With Config.RejectLong it is rejected.
//
// # Connections
//
// A connection is made when there are records to deliver. One goroutine per
// stream connection reads responses and detects that the receiver has closed
// the connection, so that no record is written to it after that. The connection
// is closed if the receiver does not respond for Config.Timeout: its system
// does not acknowledge TCP data (detected on Linux by TCP_INFO) or keep-alive
// probes, or RELP gets no response. A receiver that is alive but does not read,
// because it throttles, keeps its connection for Config.Stall. After a partial
// write a connection is never written to again.
//
// docs/syslog.md describes the configuration of receivers.
package syslog
