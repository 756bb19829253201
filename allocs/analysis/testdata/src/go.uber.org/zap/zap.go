// SPDX-License-Identifier: Apache-2.0

// Package zap declares the parts of the logger that the checks need.
package zap

type Logger struct{}

type SugaredLogger struct{}

type Field struct{ n int64 }

type CheckedEntry struct{}

func (l *Logger) Debug(m string, f ...Field) {}

func (l *Logger) Check(level int, m string) *CheckedEntry { return nil }

func (l *SugaredLogger) Debugw(m string, kv ...any) {}

func (l *SugaredLogger) Debugf(f string, a ...any) {}

func (l *SugaredLogger) Infow(m string, kv ...any) {}

func (l *SugaredLogger) Level() int { return 0 }

func Any(k string, v any) Field { return Field{} }

func Int(k string, v int) Field { return Field{} }
