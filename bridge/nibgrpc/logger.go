// SPDX-License-Identifier: Apache-2.0

package nibgrpc

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"google.golang.org/grpc/grpclog"
)

var (
	_ grpclog.LoggerV2      = (*LoggerV2)(nil)
	_ grpclog.DepthLoggerV2 = (*LoggerV2)(nil)
)

// A LoggerV2 receives gRPC's own log:
//
//	grpclog.SetLoggerV2(nibgrpc.NewLoggerV2(log.Named("grpc"), 0))
//
// It implements grpclog.LoggerV2 and DepthLoggerV2. The level of the nib.Logger
// applies; a rule for its name, as in nib.ParseRules("info,grpc=warn"), sets it
// for gRPC alone. The part of gRPC that logs is in the field component, and the
// call site, with nib.WithCaller, is within gRPC. A LoggerV2 is safe for
// concurrent use.
type LoggerV2 struct {
	log       atomic.Pointer[nib.Logger]
	verbosity int
}

// NewLoggerV2 returns a LoggerV2 that writes to l. V(n) of gRPC is true for n
// up to verbosity, whatever the level of l: gRPC uses 2 for the events of each
// connection, and 99 for everything.
func NewLoggerV2(l *nib.Logger, verbosity int) *LoggerV2 {
	g := &LoggerV2{verbosity: verbosity}
	g.log.Store(l)
	return g
}

// SetLogger replaces the nib.Logger. It may be called while gRPC is in use,
// unlike grpclog.SetLoggerV2.
func (g *LoggerV2) SetLogger(l *nib.Logger) { g.log.Store(l) }

// V reports whether gRPC should log messages of verbosity n.
func (g *LoggerV2) V(n int) bool { return n <= g.verbosity }

// callerDepth is the number of callers from write to the call of package
// grpclog: the method of LoggerV2, and the function of package grpclog that
// calls it.
const callerDepth = 3

// write writes a line with a message that is made only if its level is enabled.
// The call site is depth callers above that of package grpclog.
func (g *LoggerV2) write(level nib.Level, depth int, component string, text func() string) {
	l := g.log.Load()
	if !l.Enabled(level) {
		return
	}
	e := l.AtDepth(level, callerDepth+depth)
	if component != "" {
		e.Str("component", component)
	}
	e.MsgFunc(text)
}

// writeDepth is write for the arguments of the Depth methods, which begin with
// the component in brackets.
func (g *LoggerV2) writeDepth(level nib.Level, depth int, args []any) {
	component := ""
	if len(args) > 1 {
		if s, ok := args[0].(string); ok && len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
			component, args = s[1:len(s)-1], args[1:]
		}
	}
	g.write(level, depth+1, component, func() string { return line(args...) })
}

// line formats as fmt.Println does, without the newline.
func line(args ...any) string { return strings.TrimSuffix(fmt.Sprintln(args...), "\n") }

// flush waits until the line of Fatal is written; gRPC ends the process then.
func (g *LoggerV2) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = g.log.Load().Flush(ctx) // the error handler has received the error
}

// Info implements grpclog.LoggerV2.
func (g *LoggerV2) Info(args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return fmt.Sprint(args...) })
}

// Infoln implements grpclog.LoggerV2.
func (g *LoggerV2) Infoln(args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return line(args...) })
}

// Infof implements grpclog.LoggerV2.
func (g *LoggerV2) Infof(format string, args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// InfoDepth implements grpclog.DepthLoggerV2.
func (g *LoggerV2) InfoDepth(depth int, args ...any) { g.writeDepth(nib.LevelInfo, depth, args) }

// Warning implements grpclog.LoggerV2.
func (g *LoggerV2) Warning(args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return fmt.Sprint(args...) })
}

// Warningln implements grpclog.LoggerV2.
func (g *LoggerV2) Warningln(args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return line(args...) })
}

// Warningf implements grpclog.LoggerV2.
func (g *LoggerV2) Warningf(format string, args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// WarningDepth implements grpclog.DepthLoggerV2.
func (g *LoggerV2) WarningDepth(depth int, args ...any) { g.writeDepth(nib.LevelWarn, depth, args) }

// Error implements grpclog.LoggerV2.
func (g *LoggerV2) Error(args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return fmt.Sprint(args...) })
}

// Errorln implements grpclog.LoggerV2.
func (g *LoggerV2) Errorln(args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return line(args...) })
}

// Errorf implements grpclog.LoggerV2.
func (g *LoggerV2) Errorf(format string, args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// ErrorDepth implements grpclog.DepthLoggerV2.
func (g *LoggerV2) ErrorDepth(depth int, args ...any) { g.writeDepth(nib.LevelError, depth, args) }

// Fatal implements grpclog.LoggerV2. It writes the line and flushes; package
// grpclog ends the process.
func (g *LoggerV2) Fatal(args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return fmt.Sprint(args...) })
	g.flush()
}

// Fatalln implements grpclog.LoggerV2, as Fatal does.
func (g *LoggerV2) Fatalln(args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return line(args...) })
	g.flush()
}

// Fatalf implements grpclog.LoggerV2, as Fatal does.
func (g *LoggerV2) Fatalf(format string, args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return fmt.Sprintf(format, args...) })
	g.flush()
}

// FatalDepth implements grpclog.DepthLoggerV2, as Fatal does.
func (g *LoggerV2) FatalDepth(depth int, args ...any) {
	g.writeDepth(nib.LevelFatal, depth, args)
	g.flush()
}
