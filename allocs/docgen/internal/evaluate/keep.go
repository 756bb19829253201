// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Kept returns the result of a module that Keep has stored in dir, or nil. One
// of another version, or of other benchmarks or roots, is none.
func Kept(dir string, m Module) (*Result, error) {
	text, err := os.ReadFile(keptName(dir, m))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	r := new(Result)
	if err := json.Unmarshal(text, r); err != nil || !reflect.DeepEqual(r.Module, m) {
		return nil, err
	}
	return r, nil
}

// Keep stores what the table shows of a result in dir, so that many modules can
// be evaluated one after the other.
func Keep(dir string, r *Result) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(keptName(dir, r.Module), text, 0o644)
}

func keptName(dir string, m Module) string {
	return filepath.Join(dir, strings.Map(func(r rune) rune {
		if strings.ContainsRune("/ ,", r) {
			return '-'
		}
		return r
	}, m.Name)+".json")
}
