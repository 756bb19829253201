// SPDX-License-Identifier: Apache-2.0

// Package jsonenc appends JSON text to byte slices. Each function AppendX(dst,
// v) appends the text of one value to dst and returns the extended slice; dst
// may be nil. The functions keep no state and no argument, so any number of
// goroutines may call them with different slices. They allocate only to grow
// dst.
//
// # Escaping
//
// Every string, key or value, is written under the same rules:
//
//   - " and \ are written \" and \\;
//   - control bytes below 0x20 are written \n \r \t \b \f or \u00XX;
//   - DEL, U+0080 to U+009F (C1), U+2028, U+2029, the bidirectional controls
//     (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and U+FEFF
//     are written \uXXXX, so that no terminal or viewer can be steered by
//     logged text;
//   - each byte that is not part of valid UTF-8 is written as U+FFFD;
//   - everything else is copied. < > and & are not escaped: the text is meant
//     for log lines, not for HTML.
package jsonenc
