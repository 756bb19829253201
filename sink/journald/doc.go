// SPDX-License-Identifier: Apache-2.0

// Package journald hands lines to systemd-journald by its native protocol
// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/), so that they are in the journal
// with all their fields:
//
//	func run() error {
//		s, err := journald.Open(journald.Config{Identifier: "shop"})
//		if err != nil {
//			return err
//		}
//		defer s.Close()
//		log := nib.NewSink(s, nib.WithCaller())
//		log.Warn().Int("http_status", 503).Msg("upstream is busy")
//		// journalctl SYSLOG_IDENTIFIER=shop HTTP_STATUS=503
//		return nil
//	}
//
// # Entries
//
// A line becomes an entry of these fields:
//
//   - MESSAGE: the message; the whole line if it has none, because journalctl
//     shows nothing otherwise
//   - PRIORITY: 7 (debug) for trace and debug, 6 (info), 5 (notice) from
//     nib.LevelInfo+2 on, 4 (warning), 3 (err), 2 (crit) for panic, 1 (alert) for
//     fatal. 0 (emerg) is not used: the journal writes it to every terminal
//   - SYSLOG_IDENTIFIER: Config.Identifier
//   - CODE_FILE, CODE_LINE, CODE_FUNC: the call site, with nib.WithCaller
//   - one field for each of the line's own: the text of a string, the compact JSON
//     of anything else
//   - the line itself, with Config.Line
//
// The journal has a time of its own for each entry. A layout whose TimeKey is
// nib.OmitKey saves the line's.
//
// # Names
//
// Names of the journal are made of A to Z, 0 to 9 and _, begin with a letter, and
// have at most 64 bytes. A key becomes one so: letters are made upper case, each
// other character becomes _, Config.Prefix goes in front, and the rest is cut
// off. "FIELD_" goes in front of a name that begins with anything but a letter and
// of the names that this package writes and journald acts upon (MESSAGE,
// PRIORITY, CODE_FILE, CODE_LINE, CODE_FUNC, OBJECT_PID, SYSLOG_IDENTIFIER,
// SYSLOG_PID, SYSLOG_FACILITY, SYSLOG_TIMESTAMP, SYSLOG_RAW, NIB_LINE and
// Config.Line), so no field can pass for them. Others that mean something, like
// MESSAGE_ID and DOCUMENTATION, can be set. If a name is there already, because of
// another key, _2, _3 and so on is put behind it, in the order of the line.
//
// journald drops entries of more than 1024 fields. Fields beyond the first 1000
// are left out, and then the line itself is added as NIB_LINE.
//
// # Values
//
// The journal takes any bytes. Line breaks and tabs of a text stand there as
// such; other control characters, bidirectional controls, U+2028, U+2029 and
// U+FEFF stay escaped as in the line (\u001b), since there are readers that print
// them as they are.
//
// # Delivery
//
// WriteRecord returns when the entry is in journald's queue, which the end of the
// program does not take away. Entries that are too large for a datagram go in a
// sealed memory file, or in a file without a name in /dev/shm where the system
// has none.
//
// When the queue is full, or journald is not there, a call waits for up to
// Config.Stall; then its line is dropped, counted and returned as an error, and
// calls that follow try once, without waiting, until one succeeds. The socket is
// connected again by itself after a restart of journald. No goroutine is started.
//
// Open is an error on any other system than Linux.
package journald
