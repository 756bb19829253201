// SPDX-License-Identifier: Apache-2.0

package klog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func line() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// Loggers that were derived before SetLogger are delegated to it, with their
// own call depth, name and values.
func TestControllerRuntimeE2E(t *testing.T) {
	early := log.Log.WithName("manager").WithValues("replica", 1)
	rules, err := nib.ParseRules("warn,manager=info,manager.cache=debug")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	log.SetLogger(niblogr.New(nib.New(&b, nib.WithCaller(), nib.WithRules(rules), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))))
	var want string
	wanted := func(level, name, fields, message string, line int) {
		want += fmt.Sprintf(`{"level":%q,"logger":%q,"caller":"klog/controller_test.go:%d",%s"message":%q}`+"\n", level, name, line, fields, message)
	}

	early.Info("leading")
	wanted("info", "manager", `"replica":1,`, "leading", line()-1)
	ctx := log.IntoContext(context.Background(), early.WithName("cache"))
	log.FromContext(ctx, "kind", "Pod").V(4).Info("synced")
	wanted("debug", "manager.cache", `"replica":1,"kind":"Pod",`, "synced", line()-1)
	early.V(1).Info("off")
	log.Log.Info("off")
	log.Log.WithName("webhook").Error(errors.New("gone"), "failed")
	wanted("error", "webhook", `"error":"gone",`, "failed", line()-1)
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestKlogLinesE2E(t *testing.T) {
	defer klog.CaptureState().Restore()
	var b bytes.Buffer
	klog.SetLogger(niblogr.New(nib.New(&b, nib.WithCaller(), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))))
	klog.Infof("%d nodes", 3)
	at := line() - 1
	klog.V(0).InfoS("synced", "pod", klog.KRef("default", "web"))
	klog.ErrorS(errors.New("gone"), "failed")
	want := fmt.Sprintf(`{"level":"info","caller":"klog/controller_test.go:%d","message":"3 nodes"}
{"level":"info","caller":"klog/controller_test.go:%d","pod":{"name":"web","namespace":"default"},"message":"synced"}
{"level":"error","caller":"klog/controller_test.go:%d","error":"gone","message":"failed"}
`, at, at+2, at+3)
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
