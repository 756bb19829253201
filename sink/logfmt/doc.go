// SPDX-License-Identifier: Apache-2.0

// Package logfmt writes finished lines as logfmt, for Loki, for grep and for
// whatever else reads key=value:
//
//	func main() {
//		log := nib.NewSink(logfmt.New(os.Stdout, logfmt.Config{})).Named("db")
//		log.Info().
//			Str("host", "10.0.0.7").
//			Dict("user", func(e *nib.Event) {
//				e.Int("id", 7)
//			}).
//			Dur("took", 1250*time.Microsecond).
//			Msg("connected again")
//	}
//
// writes
//
//	time=2026-01-02T15:04:05.000Z level=info logger=db host=10.0.0.7 user.id=7 took=1.25 message="connected again"
//
// It is a view: a line is encoded once, as JSON, and what stands here is made
// from it, field by field and in its order.
//
// # Values
//
//   - Numbers, true, false and null stand as they are in JSON.
//   - A string stands as it is if no parser can take it for anything else.
//     Otherwise it is quoted and escaped as in JSON: when it is empty, has spaces
//     (also those outside of ASCII), =, ", \ or anything that package nib escapes
//     (control characters, bidirectional controls, U+2028, U+2029, U+FEFF), or
//     reads as a number, true, false or null.
//   - An array is its compact JSON, quoted.
//   - An object is flattened: each of its values is a field of its own, under the
//     keys that lead to it joined by dots. With Config.Objects it is compact JSON,
//     quoted, instead. So is an empty one, and one that lies more than 32 objects
//     deep or behind a path of more than 256 bytes, because each of its values
//     would repeat the path.
//
// # Keys
//
// logfmt has no quotes for keys, and a key ends at the first space or equals
// sign. Within a key these, quotes, and all that would be escaped in a value are
// written \uXXXX, a backslash is doubled, and an empty key is \_ . Parsers
// take that as it stands, so no key can add a field, and two keys that differ
// stay different. Only dots mean two things: {"a":{"b":1}} and {"a.b":1} are both
// a.b=1. Where that matters, because a layout has dots in keys of its own and
// fields are not to be taken for them, keep objects as JSON.
//
// # Foreign lines
//
// Bytes that are not a JSON object are passed on as one line of text, with
// control and bidirectional characters escaped.
package logfmt
