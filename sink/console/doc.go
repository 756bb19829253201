// SPDX-License-Identifier: Apache-2.0

// Package console writes log lines in a human-readable form. It is a view: an
// event is encoded once, as JSON, and the text is made from that. A Logger
// whose only sink is a console writes durations with their units, whatever its
// Layout says. If it also has a sink for machines, as in a sink.Tee, they stay
// numbers.
//
//	func main() {
//		log := nib.NewSink(console.New(os.Stderr, console.Config{}))
//		log.Named("db.pool").Info().
//			Str("host", "10.0.0.7").
//			Dur("took", 1250*time.Microsecond).
//			Msg("connected")
//		log.Error().
//			Int("user", 42).
//			Err(errors.New("card declined")).
//			Msg("payment failed")
//	}
//
// writes
//
//	15:04:05.000 INFO  db.pool: connected                host=10.0.0.7 took=1.25ms
//	15:04:06.120 ERROR payment failed                    user=42 error="card declined" api/pay.go:88
//	    │ main.pay
//	    │     /src/api/pay.go:88
//
// From left to right: the time, the level, the name of the logger, the message,
// the fields, the call site. Stack traces, and the further lines of messages,
// errors and panics that have several, follow in a block below.
//
// In a terminal with less room the message column is narrower, and fields that
// do not fit go to the next row, indented; see Config.Width:
//
//	15:04:06.120 INFO  http: request served  method=GET path=/cart status=200
//	                     took=1.92ms trace=4bf92f3577b34da6
//
// # Quoting
//
// Text without quotes is literal: it is shown as it was logged. Ambiguous text
// is quoted and escaped as in JSON: a value with spaces, a string that looks
// like a number, a message with an equals sign in it, and anything with control
// characters, bidirectional controls, U+2028, U+2029 or U+FEFF. So logged text
// cannot control the terminal, start a line, or add a field. Colours are the
// only control sequences that are written, only nib chooses them, and without
// them the text is the same.
//
// Only blocks have line breaks, and a marker precedes each of their lines;
// every other control character is shown as its JSON escape. Line breaks at the
// end of a message are omitted. An indented row starts with a field or the call
// site, two columns to the right of where messages start, or at column 4 of a
// narrow terminal, where neither lines nor blocks start.
//
// If several fields have the key of the time or the level, the first is shown
// as such; of several messages it is the last (the first with
// [nib.Layout].MessageFirst). That is how nib and other loggers write them. The
// rest are shown as fields. Input that is not a JSON object is written as one
// escaped line.
package console
