// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"runtime"
	"strconv"
	"strings"
)

// siteFields returns CODE_FILE, CODE_LINE and CODE_FUNC of a program counter
// from runtime.Callers, or "" for none.
func (s *Sink) siteFields(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	fields := s.sites.Get(pc)
	if fields == nil {
		fields = s.sites.Put(pc, newSiteFields(pc))
	}
	return *fields
}

func newSiteFields(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if frame.File == "" || strings.Contains(frame.File, "\n") {
		return ""
	}
	return "CODE_FILE=" + frame.File + "\nCODE_LINE=" + strconv.Itoa(frame.Line) +
		"\nCODE_FUNC=" + frame.Function + "\n"
}
