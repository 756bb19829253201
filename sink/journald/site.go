// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// sites caches the fields of each call site that has logged. Their number is
// bounded by the calls in the program's source.
type sites struct {
	mu   sync.RWMutex
	byPC map[uintptr]string // protected by mu
}

// fields returns CODE_FILE, CODE_LINE and CODE_FUNC of a program counter from
// runtime.Callers, or "" for none.
func (s *sites) fields(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	s.mu.RLock()
	text, ok := s.byPC[pc]
	s.mu.RUnlock()
	if ok {
		return text
	}
	text = siteFields(pc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPC == nil {
		s.byPC = make(map[uintptr]string)
	}
	s.byPC[pc] = text
	return text
}

func siteFields(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if frame.File == "" || strings.Contains(frame.File, "\n") {
		return ""
	}
	return "CODE_FILE=" + frame.File + "\nCODE_LINE=" + strconv.Itoa(frame.Line) + "\nCODE_FUNC=" + frame.Function + "\n"
}
