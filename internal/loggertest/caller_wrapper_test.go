// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// A service embeds a Logger, so the compiler makes wrappers of its methods,
// which calls of all places through an interface execute.
type service struct{ *nib.Logger }

// A server has wrappers that call the wrappers of a service.
type server struct{ service }

// A module has methods of its own, which are no wrappers.
type module[T any] struct{ log *nib.Logger }

func (m module[T]) LogAttrs(ctx context.Context, level nib.Level, msg string, attrs ...slog.Attr) {
	moduleAttrs = here(1)
	m.log.LogAttrs(ctx, level, msg, attrs...)
}

func (m module[T]) Info() *nib.Event { moduleInfo = here(0); return m.log.Info() }

// The lines of the calls in the methods of a module.
var moduleInfo, moduleAttrs string

type wrappedLogger interface {
	Info() *nib.Event
	LogAttrs(context.Context, nib.Level, string, ...slog.Attr)
}

// The functions that follow are not inlined, so that the compiler does not find
// out the type behind the interface.

//go:noinline
func eventAt(l wrappedLogger) (want string) { l.Info().Msg("m"); return here(0) }

//go:noinline
func eventElsewhere(l wrappedLogger) (want string) { l.Info().Msg("m"); return here(0) }

//go:noinline
func attrsAt(l wrappedLogger) (want string) {
	l.LogAttrs(context.Background(), 0, "m")
	return here(-1)
}

//go:noinline
func attrsElsewhere(l wrappedLogger) (want string) {
	l.LogAttrs(context.Background(), 0, "m")
	return here(-1)
}

//go:noinline
func methodValueAt(info func() *nib.Event) (want string) { info().Msg("m"); return here(0) }

//go:noinline
func methodValueElsewhere(info func() *nib.Event) (want string) { info().Msg("m"); return here(0) }

func TestCallerBehindWrappers(t *testing.T) {
	l, c := newCapture(t, nib.WithCaller())
	calls := map[string]func(wrappedLogger) string{
		"event": eventAt, "event elsewhere": eventElsewhere,
		"attributes": attrsAt, "attributes elsewhere": attrsElsewhere,
		"method value": func(l wrappedLogger) string { return methodValueAt(l.Info) },
		"method value elsewhere": func(l wrappedLogger) string {
			return methodValueElsewhere(l.Info)
		},
	}
	for name, log := range map[string]wrappedLogger{
		"logger": l, "value": service{l}, "pointer": &service{l},
		"two wrappers": server{service{l}}, "pointer to two wrappers": &server{service{l}},
	} {
		for call, do := range calls {
			want := do(log)
			if got := c.take()[0].get("caller"); got == nil || !strings.Contains(got.text, want) {
				t.Errorf("%s, %s: got %s, want %s", name, call, got, want)
			}
		}
	}
}

func TestCallerInAGenericMethod(t *testing.T) {
	l, c := newCapture(t, nib.WithCaller())
	for _, m := range []wrappedLogger{module[int]{l}, module[string]{l}, &module[*int]{l}} {
		eventAt(m)
		attrsAt(m)
		for i, line := range c.take() {
			want := []string{moduleInfo, moduleAttrs}[i]
			if got := line.get("caller"); got == nil || !strings.Contains(got.text, want) {
				t.Errorf("%T: got %s, want %s", m, got, want)
			}
		}
	}
}
