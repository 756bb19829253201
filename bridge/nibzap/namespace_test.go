// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// inNamespace is an object with a value in a namespace that it opens.
type inNamespace struct{ value any }

func (n inNamespace) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.OpenNamespace("ns")
	return enc.AddReflected("value", n.value)
}

// Values of the program are not changed, which would also be a data race
// between goroutines that log the same one.
func TestValuesInNamespacesAreNotChanged(t *testing.T) {
	var rec recordtest.Recorder
	log := zap.New(nibzap.NewCore(nib.NewSink(&rec)))
	shared := map[string]any{"number": complex(1, 2), "list": []any{complex(3, 4)}}
	await.Goroutines(2, func(int) {
		for range 20 {
			log.Info("m", zap.Object("o", inNamespace{shared}))
		}
	})
	if shared["number"] != complex(1, 2) || shared["list"].([]any)[0] != complex(3, 4) {
		t.Errorf("the value is now %v", shared)
	}
	if want := `"o":{"ns":{"value":{"list":["3+4i"],"number":"1+2i"}}}`; !strings.Contains(rec.Last(), want) {
		t.Errorf("got %s, want %s in it", rec.Last(), want)
	}
}

func TestValuesInNamespacesMayContainThemselves(t *testing.T) {
	var rec recordtest.Recorder
	log := zap.New(nibzap.NewCore(nib.NewSink(&rec)))
	loop := map[string]any{}
	loop["a"], loop["b"] = loop, []any{loop, loop}
	log.Info("m", zap.Object("o", inNamespace{loop}))
	if got := rec.Last(); !json.Valid([]byte(got)) || !strings.Contains(got, "nested deeper than 32") {
		t.Errorf("got %.500s", got)
	}
}
