// SPDX-License-Identifier: Apache-2.0

// Package logread reads log lines: of nib in every layout, of zerolog,
// zap, log/slog, logrus and other loggers that write JSON, logfmt or text, also
// as the journal, Docker, Kubernetes or syslog carry them. It recognises the
// format of each line, decodes only the fields used, and selects lines by a
// query:
//
//	func main() {
//		q, err := logread.ParseQuery(`level >= warn and took > 250ms`, time.Now())
//		if err != nil {
//			log.Fatal(err)
//		}
//		for l, err := range logread.Lines(os.Stdin) {
//			if err != nil {
//				log.Fatal(err)
//			}
//			if q.Match(l) {
//				at, _ := l.Time()
//				fmt.Printf("%s %s\n", at.Format(time.Kitchen), l.Message())
//			}
//		}
//	}
//
// # Queries
//
// A query is an expression:
//
//	level >= warn
//	took > 250ms and path ~ "^/api"
//	status in (500, 502, 503) or not exists user
//	time >= "2026-11-21 09:30" and line contains "timeout"
//
// Comparisons are joined by and, or and not, which may be written as &&, || and
// !, and grouped by parentheses. Each compares a field with a value:
//
//	= == !=        equal, not equal
//	< <= > >=      less, greater
//	~ !~           matches a regular expression, does not match it
//	contains       has a text in it
//	in (a, b)      equals one of several values
//	exists field   the field is there
//
// A field is a key, or the path to one in nested objects (user.id). A key with
// other characters is written in backquotes. If a line has the key several
// times, the last one counts. Four names are not keys: time, level and message
// are the fields with that meaning, whatever key the format of the line uses,
// and line is its whole text. Of several times or levels, the first readable
// value counts, as loggers write their own before the fields of a program.
//
// A value is a number (10, 1.5e3, also with a unit of size: 10KB, 4MiB), a
// duration (250ms, 1h30m), or a text, in quotes if it has spaces or operators
// in it. A number is compared with numbers, and with texts that are numbers. A
// duration is compared with texts like 1.5s, and with numbers in the unit that
// the key (took_ms, waitSeconds) or the format of the line implies: seconds
// for zap and OpenTelemetry, nanoseconds for log/slog, logrus, ECS and Datadog,
// milliseconds for all others. A text is compared with the text of the value. A
// line without the field, or with a value that cannot be compared, does not
// match. != and !~ are the negation of = and ~, so they match such a line.
//
// # Costs
//
// Nothing is allocated per line, and fields that a query does not use are
// skipped, not decoded.
package logread
