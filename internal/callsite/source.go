// SPDX-License-Identifier: Apache-2.0

package callsite

import "log/slog"

// SourceGroup returns a source as slog writes it: a group of the fields that
// are known.
func SourceGroup(s *slog.Source) slog.Value {
	var known []slog.Attr
	if s != nil && s.Function != "" {
		known = append(known, slog.String("function", s.Function))
	}
	if s != nil && s.File != "" {
		known = append(known, slog.String("file", s.File))
	}
	if s != nil && s.Line != 0 {
		known = append(known, slog.Int("line", s.Line))
	}
	return slog.GroupValue(known...)
}
