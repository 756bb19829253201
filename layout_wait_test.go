// SPDX-License-Identifier: Apache-2.0

package nib_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
)

// TestNewDoesNotWaitForFunctionsOfItsLayout makes loggers while it holds a lock
// that the functions of their layouts take: New calls these to find out which
// keys they write.
func TestNewDoesNotWaitForFunctionsOfItsLayout(t *testing.T) {
	var mu sync.Mutex
	locked := func(e *nib.Event, key string) {
		mu.Lock()
		defer mu.Unlock()
		e.Str(key, "text").Str(key+".more", "text")
	}
	for name, layout := range map[string]nib.Layout{
		"Error":  {Error: func(e *nib.Event, key string, _ error) { locked(e, key) }},
		"Caller": {Caller: func(e *nib.Event, key string, _ runtime.Frame) { locked(e, key) }},
	} {
		var out bytes.Buffer
		mu.Lock()
		log := nib.New(&out, nib.WithLayout(layout), nib.WithCaller())
		mu.Unlock()
		log.Error().Err(errors.New("text")).Msg("m")
		if got := out.String(); strings.Count(got, `.more":"text"`) != 1 {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
