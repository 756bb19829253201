// SPDX-License-Identifier: Apache-2.0

// Package niblogr implements github.com/go-logr/logr with nib, the API of
// Kubernetes libraries: client-go and others through klog, and
// controller-runtime.
//
//	func main() {
//		rules, err := nib.ParseRules("info,operator.cache=debug")
//		if err != nil {
//			panic(err)
//		}
//		l := niblogr.New(nib.New(os.Stdout, nib.WithRules(rules), nib.WithCaller()))
//
//		l.Info("started", "namespace", "default")
//		cache := l.WithName("operator").WithName("cache")
//		cache.V(4).Info("synced", "objects", 12) // a debug line, by the rule for operator.cache
//		cache.V(5).Info("peeked")                // more verbose than debug: not written
//		cache.Error(errors.New("timeout"), "cannot list", "kind", "Pod")
//	}
//
// The same Logger serves klog and controller-runtime: pass it to SetLogger of
// k8s.io/klog/v2 and of sigs.k8s.io/controller-runtime.
//
// # Levels
//
// V(n) is the level nib.LevelInfo - n, as in logr's own bridge to slog: V(0) is
// info, V(4) is debug, V(8) is trace. The levels between have names too: V(2)
// is "debug+2". A rule or level "debug" therefore enables V(1) to V(4),
// "debug+2" enables V(1) and V(2), and "trace-2" enables all up to V(10).
// [nib.Rules] and [nib.LevelVar] change them while the program runs, by the
// names of WithName, which are joined by dots. Error lines have nib.LevelError
// and are written whatever the level, as logr requires.
//
// For a logger made with logr.ToSlogHandler, logr asks for V(0) before it
// passes a warning of slog. So V(0) is also enabled at the level warn, where
// its own lines are not written.
//
// klog has another level: its flag -v decides before the bridge is called, and
// lines that pass it may still be disabled here. Lines of klog.Info and similar
// functions have V(0).
//
// # Values
//
// A value is written in this order of preference: as the result of its
// MarshalLog method, as a [nib.Marshaler], as the text of its Error or String
// method, and otherwise as [nib.Event.Any] does. If a method panics, the value
// is "!PANIC: …", and the line is written. A key without a value has the value
// "!ERROR: no value". A key that is not a string is converted if it is a number
// or a boolean; otherwise its type is the key.
//
// The error of Error is written as [nib.Event.Err] does; a nil error is left
// out. Of equal keys all are written, unless the Logger has
// nib.WithDuplicateKeys.
package niblogr
