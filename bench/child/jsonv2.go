// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/bench/report"
)

// ErrNoJSONv2 indicates that this release of Go has no encoding/json/v2.
var ErrNoJSONv2 = errors.New("encoding/json/v2 not available")

// JSONv2 builds bench/codec/jsonv2 with the experiment that it needs,
// runs it and returns its results. It needs the go command, and a working
// directory within this module.
func JSONv2(rounds int, round time.Duration, allocs int) (*report.Results, error) {
	env := append(os.Environ(), "GOEXPERIMENT=jsonv2")
	if out, err := output(env, "", "go", "list", "encoding/json/v2"); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoJSONv2, strings.TrimSpace(out))
	}
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "jsonv2")
	if out, err := output(env, "", "go", "build", "-o", binary, "github.com/nib-log/nib/bench/codec/jsonv2"); err != nil {
		return nil, fmt.Errorf("build jsonv2: %w\n%s", err, out)
	}
	out, err := output(os.Environ(), "", binary, "-rounds="+strconv.Itoa(rounds), "-round="+round.String(),
		"-allocs="+strconv.Itoa(allocs))
	if err != nil {
		return nil, fmt.Errorf("jsonv2: %w\n%s", err, out)
	}
	return report.Read(strings.NewReader(out))
}
