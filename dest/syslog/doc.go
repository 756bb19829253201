// SPDX-License-Identifier: Apache-2.0

// Package syslog sends records to a syslog receiver, such as rsyslog: RFC 5424 messages,
// over unix sockets, TCP, TLS (RFC 5425) or RELP. A [Destination] stands behind a spool, which
// keeps what is not settled and delivers it again:
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
// # Promises
//
// What it means that a record is settled depends on the network:
//
//   - relp, relp+tls: the receiver has acknowledged it. What had no response when a connection
//     failed, Config.Window records at most, is sent again and may come twice.
//   - tcp, tls, unix: the socket has taken it. What the receiver had not read when it
//     ended is lost; a batch during which that is noticed is sent again.
//   - unixgram: it is in the receiver's queue, which ends with the receiver.
//
// Config.SequenceID numbers the records, so that a receiver can count what is missing and what came
// twice.
//
// # Messages
//
// The message is the line without its newline, byte for byte. The header has
// the time of the record in UTC with six digits of the fraction; the facility; a severity by level:
// debug (7) for trace and debug, informational (6), notice (5) from nib.LevelInfo+2 on, warning
// (4), error (3), critical (2) for panic, alert (1) for fatal, never emergency (0); names of
// host, program and process; as MSGID the name of the logger. There is no byte order mark: JSON
// must not begin with one, and receivers take it for a part of the message.
//
// A message above Config.MaxSize has its longest strings cut, stays valid JSON, and says in a
// field "truncated" how many bytes are missing; or it is rejected.
//
// # Connections
//
// They are made when there is something to deliver. One goroutine per connection of a stream
// reads what the receiver says and notices its end, so that nothing is written to a connection that the
// receiver has closed before. A receiver that leaves Config.Timeout without any answer is
// given up: when its system does not acknowledge what TCP has sent (seen on Linux by
// TCP_INFO), does not answer to probes while the connection is idle, or when RELP
// gets no response. One that is alive and does not read, since it throttles, keeps its
// connection for Config.Stall. After a partial write a connection is never written to
// again.
//
// docs/syslog.md has the receiver's side.
package syslog
