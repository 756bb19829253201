// SPDX-License-Identifier: Apache-2.0

// Package logfmt writes log lines as logfmt, for Loki, grep and other tools
// that read key=value:
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
// It is a view: an event is encoded once, as JSON, and the logfmt line is made
// from that, field by field in the same order.
//
// # Values
//
//   - Numbers, true, false and null are written as in JSON.
//   - A string is written as is if no parser can misread it. Otherwise it is
//     quoted and escaped as in JSON: when it is empty, has spaces (also those
//     outside of ASCII), =, ", \ or anything that package nib escapes (control
//     characters, bidirectional controls, U+2028, U+2029, U+FEFF), or reads as
//     a number, true, false or null.
//   - An array is written as compact JSON, quoted.
//   - An object is flattened: each of its values becomes a field, whose key is
//     the path of keys joined by dots. With KeepObjects it is written as
//     compact JSON instead, quoted. So is an empty object, and an object that
//     is nested more than 32 objects deep or has a path of more than 256 bytes,
//     because each of its values would repeat the path.
//
// # Keys
//
// logfmt has no quotes for keys, and a key ends at the first space or equals
// sign. In a key these, quotes, and all characters that a value would escape
// are written as \uXXXX, a backslash is doubled, and an empty key is \_ .
// Parsers take that literally, so no key can add a field, and different keys
// remain different. Only dots are ambiguous: {"a":{"b":1}} and {"a.b":1} are
// both a.b=1. If a layout has keys with dots that fields must not be mistaken
// for, use KeepObjects.
//
// # Input that is not JSON
//
// Input that is not a JSON object is written as one line of text, with control
// and bidirectional characters escaped.
package logfmt
