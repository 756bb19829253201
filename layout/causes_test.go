// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

// Neither a deep error nor a wide one makes a line without bound.
func TestCausesAreBounded(t *testing.T) {
	const n = 1000
	deep, many := errors.New("cause"), make([]error, n)
	for i := range many {
		deep = fmt.Errorf("outer: %w", deep)
		many[i] = fmt.Errorf("number %d", i)
	}
	wide := errors.Join(many...)
	mixed := errors.Join(append(many[:40:40], fmt.Errorf("and: %w", wide))...)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"deep": {deep, 32}, "wide": {wide, 64}, "mixed": {mixed, 64},
		"few": {errors.Join(many[:64]...), 64},
	} {
		var out bytes.Buffer
		log := nib.New(&out, nib.WithLayout(nib.Layout{Error: layout.ErrorCauses}))
		log.Error().Err(c.err).Send()
		var line struct {
			Causes []string `json:"error_causes"`
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if len(line.Causes) != c.want {
			t.Errorf("%s: got %d causes, want %d", name, len(line.Causes), c.want)
		}
	}
}
