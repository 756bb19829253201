// SPDX-License-Identifier: Apache-2.0

package nibgrpc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"google.golang.org/grpc/grpclog"
)

var _ grpclog.DepthLoggerV2 = (*logger)(nil)

// A logger receives gRPC's own log. It is immutable.
type logger struct {
	log       *nib.Logger
	verbosity int
}

// NewLoggerV2 returns a logger for gRPC itself that writes to l:
//
//	grpclog.SetLoggerV2(nibgrpc.NewLoggerV2(log.Named("grpc"), 0))
//
// The level of l applies; a rule for its name, as in
// nib.ParseRules("info,grpc=warn"), sets it for gRPC alone. V(n) of gRPC is
// true for n up to verbosity, whatever the level of l: gRPC uses 2 for the
// events of each connection, and 99 for everything. The part of gRPC that logs
// is in the field component, and the call site, with nib.WithCaller, is within
// gRPC. The result implements grpclog.DepthLoggerV2, too, and is safe for
// concurrent use.
func NewLoggerV2(l *nib.Logger, verbosity int) grpclog.LoggerV2 {
	return &logger{l, verbosity}
}

// V reports whether gRPC should log messages of verbosity n.
func (g *logger) V(n int) bool { return n <= g.verbosity }

// callerDepth is the number of callers from write to the call of package
// grpclog: the method of logger, and the function of package grpclog that
// calls it.
const callerDepth = 3

// write writes a line with a message that is made only if its level is enabled.
// The call site is depth callers above package grpclog's caller.
func (g *logger) write(level nib.Level, depth int, component string, text func() string) {
	if !g.log.Enabled(level) {
		return
	}
	e := g.log.AtDepth(level, callerDepth+depth)
	if component != "" {
		e.Str("component", component)
	}
	e.MsgFunc(text)
}

// writeDepth is write for the arguments of the Depth methods, which begin with
// the component in brackets.
func (g *logger) writeDepth(level nib.Level, depth int, args []any) {
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
func (g *logger) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = g.log.Flush(ctx) // the error handler has received the error
}

// Info implements grpclog.LoggerV2.
func (g *logger) Info(args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return fmt.Sprint(args...) })
}

// Infoln implements grpclog.LoggerV2.
func (g *logger) Infoln(args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return line(args...) })
}

// Infof implements grpclog.LoggerV2.
func (g *logger) Infof(format string, args ...any) {
	g.write(nib.LevelInfo, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// InfoDepth implements grpclog.DepthLoggerV2.
func (g *logger) InfoDepth(depth int, args ...any) { g.writeDepth(nib.LevelInfo, depth, args) }

// Warning implements grpclog.LoggerV2.
func (g *logger) Warning(args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return fmt.Sprint(args...) })
}

// Warningln implements grpclog.LoggerV2.
func (g *logger) Warningln(args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return line(args...) })
}

// Warningf implements grpclog.LoggerV2.
func (g *logger) Warningf(format string, args ...any) {
	g.write(nib.LevelWarn, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// WarningDepth implements grpclog.DepthLoggerV2.
func (g *logger) WarningDepth(depth int, args ...any) { g.writeDepth(nib.LevelWarn, depth, args) }

// Error implements grpclog.LoggerV2.
func (g *logger) Error(args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return fmt.Sprint(args...) })
}

// Errorln implements grpclog.LoggerV2.
func (g *logger) Errorln(args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return line(args...) })
}

// Errorf implements grpclog.LoggerV2.
func (g *logger) Errorf(format string, args ...any) {
	g.write(nib.LevelError, 0, "", func() string { return fmt.Sprintf(format, args...) })
}

// ErrorDepth implements grpclog.DepthLoggerV2.
func (g *logger) ErrorDepth(depth int, args ...any) { g.writeDepth(nib.LevelError, depth, args) }

// Fatal implements grpclog.LoggerV2. It writes the line and flushes; package
// grpclog ends the process.
func (g *logger) Fatal(args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return fmt.Sprint(args...) })
	g.flush()
}

// Fatalln implements grpclog.LoggerV2, as Fatal does.
func (g *logger) Fatalln(args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return line(args...) })
	g.flush()
}

// Fatalf implements grpclog.LoggerV2, as Fatal does.
func (g *logger) Fatalf(format string, args ...any) {
	g.write(nib.LevelFatal, 0, "", func() string { return fmt.Sprintf(format, args...) })
	g.flush()
}

// FatalDepth implements grpclog.DepthLoggerV2, as Fatal does.
func (g *logger) FatalDepth(depth int, args ...any) {
	g.writeDepth(nib.LevelFatal, depth, args)
	g.flush()
}
