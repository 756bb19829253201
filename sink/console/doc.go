// SPDX-License-Identifier: Apache-2.0

// Package console shows finished lines to people. It is a view: a line is
// encoded once, as JSON, and the text for people is made from it. A Logger whose
// only sink is a console writes durations with their units, whatever its Layout
// says. Next to a sink for machines, as in a sink.Tee, they stay numbers.
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
// errors and panics that have several, follow as a block below.
//
// In a terminal the column of messages is narrower where there is less room, and
// fields that do not fit the row go to the next one, indented; see Config.Width:
//
//	15:04:06.120 INFO  http: request served  method=GET path=/cart status=200
//	                     took=1.92ms trace=4bf92f3577b34da6
//
// # What a reader can rely on
//
// Text without quotes is literal: it stands as it was logged. Text that could be
// taken for something else is quoted and escaped as in JSON: a value with
// spaces, a string that looks like a number, a message with an equals sign in
// it, everything that has control characters, bidirectional controls, U+2028,
// U+2029 or U+FEFF. So no logged text can steer the terminal, begin a line, or
// add a field. Colours are the only control sequences written, they are chosen
// by nib alone, and without them the text is the same.
//
// Line breaks are shown as such in blocks only, where each line has a marker in
// front, and every other control character is shown as JSON would escape it. Line
// breaks at the end of a message are left out. An indented row begins with a
// field or the call site, two columns to the right of where messages begin, or at
// column 4 of a narrow terminal, where no line and no block begins.
//
// Of several fields that claim to be the time or the level, the first is shown
// as such, of several messages the last (the first with
// [nib.Layout].MessageFirst), as nib and others write them; the rest are shown
// as fields. Bytes that are not a JSON object are passed on as one line, escaped
// likewise.
package console
