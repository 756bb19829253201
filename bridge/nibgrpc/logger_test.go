// SPDX-License-Identifier: Apache-2.0

package nibgrpc_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibgrpc"
	"github.com/nib-log/nib/internal/recordtest"
	"google.golang.org/grpc/grpclog"
)

// install sets the logger of gRPC. Its lines have their call sites.
// It is for tests during which gRPC does not log otherwise.
func install(
	t *testing.T, verbosity int, opts ...nib.Option,
) (grpclog.LoggerV2, *recordtest.Recorder) {
	t.Helper()
	rec := new(recordtest.Recorder)
	g := nibgrpc.NewLoggerV2(nib.NewSink(rec, append(opts, nib.WithCaller())...), verbosity)
	grpclog.SetLoggerV2(g)
	return g, rec
}

// above returns the call site in the line above its call.
func above() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("nibgrpc/%s:%d", file[strings.LastIndexByte(file, '/')+1:], line-1)
}

// helper logs on behalf of its caller.
func helper() { grpclog.InfoDepth(1, "depth", 1) }

// zapgrpc has no depth (zap#1268): its lines name gRPC's own wrappers.
func TestCallSitesAtEveryDepth(t *testing.T) {
	_, rec := install(t, 0)
	component := grpclog.Component("part")
	var want []string
	add := func(site string) { want = append(want, site) }
	grpclog.Info("a", 1)
	add(above())
	grpclog.Infof("%s", "a")
	add(above())
	grpclog.Infoln("a", 1)
	add(above())
	grpclog.Warning("a")
	add(above())
	grpclog.Errorf("%d", 7)
	add(above())
	grpclog.InfoDepth(0, "a", 1)
	add(above())
	grpclog.WarningDepth(0, "a")
	add(above())
	helper()
	add(above())
	component.Info("a", 1)
	add(above())
	component.Errorf("%d", 7)
	add(above())
	for i, r := range rec.Records() {
		f, err := recordtest.Decode(r.Line)
		if err != nil || f["caller"] != want[i] {
			t.Errorf("line %d: got %v, want %s", i, f["caller"], want[i])
		}
	}
	if rec.Len() != len(want) {
		t.Errorf("got %d lines, want %d", rec.Len(), len(want))
	}
}

// below calls f at the end of n further calls.
//
//go:noinline
func below(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	below(n-1, f)
}

func TestCallSitesBelowManyCalls(t *testing.T) {
	_, rec := install(t, 0)
	for depth := range 16 {
		below(depth, func() { grpclog.WarningDepth(depth+2, "a") }) // the function itself, and the last below
		if got, want := rec.Last(), `"caller":"`+above()+`"`; !strings.Contains(got, want) {
			t.Errorf("%d calls below: got %s, want %s", depth, got, want)
		}
	}
}

func TestMessagesAreThoseOfGRPC(t *testing.T) {
	_, rec := install(t, 0)
	component := grpclog.Component("part")
	grpclog.Info("a", 1, 2)
	grpclog.Infoln("a", 1)
	grpclog.Warningf("%d%%", 7)
	grpclog.ErrorDepth(0, "a", 1)
	component.Warning("conn", 3)
	grpclog.InfoDepth(0, "[alone]")
	for i, want := range []struct{ level, message, component string }{
		{"info", "a1 2", ""}, {"info", "a 1", ""}, {"warn", "7%", ""}, {"error", "a 1", ""}, {"warn", "conn 3", "part"}, {"info", "[alone]", ""},
	} {
		f, err := recordtest.Decode(rec.Records()[i].Line)
		if c, _ := f["component"].(string); err != nil || f["level"] != want.level || f["message"] != want.message || c != want.component {
			t.Errorf("line %d: got %v, want %v", i, f, want)
		}
	}
}

// zapgrpc compares the argument of V with a severity (zap#1544): at level info
// V(2) was true.
func TestVIsVerbosityAndNotSeverity(t *testing.T) {
	for _, level := range []nib.Level{nib.LevelTrace, nib.LevelInfo, nib.LevelFatal} {
		install(t, 2, nib.WithLevel(level))
		if !grpclog.V(0) || !grpclog.V(2) || grpclog.V(3) || grpclog.V(99) {
			t.Errorf("at %v: V(0) %v, V(2) %v, V(3) %v; want true, true, false", level, grpclog.V(0), grpclog.V(2), grpclog.V(3))
		}
	}
}

func TestTextsAreNotMadeBelowTheLevel(t *testing.T) {
	_, rec := install(t, 0, nib.WithLevel(nib.LevelError))
	grpclog.Infof("%v", stringer(func() string { t.Error("the text was made"); return "" }))
	grpclog.InfoDepth(0, stringer(func() string { t.Error("the text was made"); return "" }))
	if rec.Len() != 0 {
		t.Errorf("got %q", rec.Lines())
	}
}

type stringer func() string

func (s stringer) String() string { return s() }

func TestFatalFlushes(t *testing.T) {
	g, rec := install(t, 0)
	g.Fatal("a", "b")
	g.Fatalf("%d", 1)
	g.Fatalln("a", "b")
	g.(grpclog.DepthLoggerV2).FatalDepth(0, "[core]", "b")
	if rec.Len() != 4 || rec.Flushes() != 4 || rec.Find("b")["level"] != "fatal" || rec.Find("b")["component"] != "core" {
		t.Errorf("got %q and %d flushes", rec.Lines(), rec.Flushes())
	}
}
