// SPDX-License-Identifier: Apache-2.0

// Package journald writes lines to systemd-journald using its native protocol
// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/), so that the journal has all of
// their fields:
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
// A line becomes an entry with these fields:
//
//   - MESSAGE: the message, or the whole line if it has none, because
//     journalctl would show nothing otherwise
//   - PRIORITY: 7 (debug) for trace and debug, 6 (info), 5 (notice) from
//     nib.LevelInfo+2 on, 4 (warning), 3 (err), 2 (crit) for panic, 1 (alert)
//     for fatal. 0 (emerg) is not used: the journal writes it to every terminal
//   - SYSLOG_IDENTIFIER: Config.Identifier
//   - CODE_FILE, CODE_LINE, CODE_FUNC: the call site, with nib.WithCaller
//   - one field for each of the line's own: the text of a string, or the
//     compact JSON of any other value
//   - the whole line, with Config.Line
//
// The journal adds a time to each entry. A layout whose TimeKey is nib.OmitKey
// saves the time of the line.
//
// # Names
//
// Names in the journal consist of A to Z, 0 to 9 and _, start with a letter,
// and have at most 64 bytes. A key is converted as follows: letters become
// upper case, each other character becomes _, Config.Prefix is prepended, and
// the result is truncated. "FIELD_" is prepended to a name that does not start
// with a letter, and to the names that this package writes and journald acts
// upon (MESSAGE, PRIORITY, CODE_FILE, CODE_LINE, CODE_FUNC, OBJECT_PID,
// SYSLOG_IDENTIFIER, SYSLOG_PID, SYSLOG_FACILITY, SYSLOG_TIMESTAMP, SYSLOG_RAW,
// NIB_LINE and Config.Line), so no field can be mistaken for them. Other names
// with a meaning, such as MESSAGE_ID and DOCUMENTATION, can be set. If a name
// is already taken by another key, _2, _3 and so on is appended, in the order
// of the line.
//
// journald drops entries of more than 1024 fields. Fields after the first 1000
// are omitted, and the whole line is then added as NIB_LINE.
//
// # Values
//
// The journal accepts any bytes. Line breaks and tabs of a text are written as
// such; other control characters, bidirectional controls, U+2028, U+2029 and
// U+FEFF stay escaped as in the line (\u001b), since some readers print them
// unescaped.
//
// # Delivery
//
// WriteRecord returns when the entry is in journald's queue, where it survives
// the end of the program. Entries that are too large for a datagram are sent in
// a sealed memory file, or in an unlinked file in /dev/shm where the system has
// no memory files.
//
// If the queue is full, or journald is not running, a call waits for up to
// Config.Stall. Then its line is dropped and counted, and the call returns the
// error. Further calls try once, without waiting, until one succeeds. The sink
// reconnects by itself after a restart of journald. It starts no goroutine.
//
// Open returns an error on systems other than Linux.
package journald
