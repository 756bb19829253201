// SPDX-License-Identifier: Apache-2.0

// Package niblogrus writes the entries of github.com/sirupsen/logrus with nib,
// for programs that keep their calls of logrus.
//
// A [Formatter] replaces logrus.JSONFormatter. One line changes, and the lines
// that the program writes have the same keys and values:
//
//	func main() {
//		logrus.SetFormatter(&niblogrus.Formatter{})
//		logrus.WithField("rows", 3).Info("task done")
//	}
//
// writes
//
//	{"level":"info","msg":"task done","rows":3,"time":"2026-01-02T15:04:05Z"}
//
// It can also enforce a fixed format: keys that come first, in a given order,
// keys that are always present, renamed keys. [Install] makes a logrus.Logger
// write through nib's sinks, hooks and layouts; it then formats and writes
// nothing itself.
//
// # Differences from logrus.JSONFormatter
//
// Lines that logrus loses: it writes no line if a value cannot be encoded, and
// reports that on standard error. Here the line is written, and the value is
//   - "NaN", "+Inf" or "-Inf" for a float that JSON has no number for;
//   - "!ERROR: …" for values that encoding/json refuses (channels, functions,
//     errors of MarshalJSON), and for containers nested more than 32 deep,
//     which logrus follows until the stack is full;
//   - "!PANIC: …" where a method of the value panics; in logrus the caller
//     panics.
//
// Values:
//   - An error is its text also within []any, []error, map[string]any and
//     logrus.Fields, at any depth; in logrus it is {}.
//   - A nil pointer that is an error is null. logrus calls its method.
//   - A [nib.Marshaler] writes itself.
//   - Invalid raw JSON becomes a string.
//
// Keys:
//   - A field whose key the formatter uses itself is written as "fields." and
//     the key, as in logrus. Where that key is taken as well, logrus forgets
//     one of the two fields; here "fields." is prepended once more.
//   - A key that nib.OmitKey leaves out is free for fields. With
//     DisableTimestamp logrus still writes a field "time" as "fields.time".
//
// Text: only necessary escapes are written, no HTML escapes, except for
// characters that terminals and editors interpret: DEL, C1 controls,
// bidirectional controls, U+2028, U+2029 and U+FEFF are written as \uXXXX.
// Decoded, the strings are the same.
//
// There is no PrettyPrint: an entry is one line.
package niblogrus
