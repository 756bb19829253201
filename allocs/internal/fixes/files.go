// SPDX-License-Identifier: Apache-2.0

package fixes

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"sync"
)

// ErrChanged means that a file was edited since it was read or written here.
// The file is left unchanged.
var ErrChanged = errors.New("it has changed since, and is left as it is")

// contents keeps the files that were parsed: the offsets of fixes are in them.
type contents struct {
	mu   sync.Mutex
	read map[string][]byte
}

func (c *contents) parse(files *token.FileSet, name string, text []byte) (*ast.File, error) {
	c.mu.Lock()
	c.read[name] = text
	c.mu.Unlock()
	return parser.ParseFile(files, name, text, parser.AllErrors|parser.ParseComments)
}

// replace writes files. A file that is not as expected is skipped; the others
// are still written. A file that already has its new content is correct.
func replace(edits []Edit, change func(Edit) (is, becomes []byte)) error {
	var all []error
	for _, e := range edits {
		is, becomes := change(e)
		all = append(all, replaceOne(e.File, is, becomes))
	}
	return errors.Join(all...)
}

func replaceOne(file string, is, becomes []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(file)
	switch {
	case err != nil:
		return err
	case bytes.Equal(now, becomes):
		return nil
	case !bytes.Equal(now, is):
		return fmt.Errorf("%s: %w", file, ErrChanged)
	}
	return os.WriteFile(file, becomes, info.Mode().Perm())
}
