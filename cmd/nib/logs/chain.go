// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
)

// A chain reads files one after the other, each from its first line. With a
// directory of indexes it leaves out lines that are not in a window.
type chain struct {
	paths []string
	last  byte    // the last byte read, to end a line that the file does not end
	errs  []error // errors of the files that could not be read
	// The goroutine that reads sets file under the lock, and another one may
	// interrupt it.
	mu          sync.Mutex
	file        io.ReadCloser
	interrupted bool
	end         *io.SectionReader // read in place of the last file, unless nil
	ctx         context.Context
	indexes     string
	window      lineindex.Window
	skipped     Counts
}

// opener returns the function that opens a source, for a reader that needs only
// the lines in the window of the selection.
func (s *Selection) opener(source Source) func(context.Context) (io.ReadCloser, error) {
	if source.files == nil || s.Indexes == "" || s.Context > 0 || !s.Window.Usable() {
		return source.Open
	}
	return func(ctx context.Context) (io.ReadCloser, error) {
		return &chain{paths: source.files, ctx: ctx, indexes: s.Indexes, window: s.Window}, nil
	}
}

// Read reads on in the next file if a file cannot be read to its end. The
// errors of all files come after the last one.
func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.file == nil {
			if len(c.paths) == 0 {
				return 0, cmp.Or(errors.Join(c.errs...), io.EOF)
			}
			if c.last != 0 && c.last != '\n' {
				p[0], c.last = '\n', '\n'
				return 1, nil
			}
			if err := c.next(); err != nil {
				if c.leave(err); c.isInterrupted() {
					return 0, err
				}
				continue
			}
		}
		n, err := c.file.Read(p)
		if n > 0 {
			c.last = p[n-1]
		}
		switch {
		case err == io.EOF:
			c.leave(nil)
		case err != nil:
			err = fmt.Errorf("%s: %w", c.paths[0], err)
			if c.leave(err); c.isInterrupted() {
				return n, err
			}
		}
		if n > 0 {
			return n, nil
		}
	}
}

// next opens the next file.
func (c *chain) next() error {
	var r io.ReadCloser
	if c.end != nil && len(c.paths) == 1 {
		r = io.NopCloser(c.end)
	} else {
		f, err := os.Open(c.paths[0])
		if err != nil {
			return err
		}
		if x := c.indexed(f); x != nil {
			return c.enter(&opened{x, f})
		}
		r = f
	}
	file, err := decompress(r)
	if err != nil {
		_ = r.Close() // only read
		return fmt.Errorf("%s: %w", c.paths[0], err)
	}
	return c.enter(file)
}

// enter continues with file.
func (c *chain) enter(file io.ReadCloser) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		_ = file.Close() // only read
		return os.ErrClosed
	}
	c.file = file
	return nil
}

// leave closes the file that is read, and keeps the error of it.
func (c *chain) leave(err error) {
	c.mu.Lock()
	file := c.file
	c.file = nil
	c.mu.Unlock()
	if file != nil {
		_ = file.Close() // only read
	}
	c.paths = c.paths[1:]
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *chain) isInterrupted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interrupted
}

// interrupt ends a Read of another goroutine, and all later ones.
func (c *chain) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted = true; c.file != nil {
		interrupt(c.file)
	}
}

// indexed returns a reader of the parts of a plain file that may have lines of
// the window, or nil if there is no index for it.
func (c *chain) indexed(f *os.File) io.Reader {
	if c.indexes == "" || isCompressed(f) || hasParts(f) {
		return nil
	}
	x, err := lineindex.Open(c.ctx, c.indexes, f)
	if err != nil {
		return nil // the file is read without its index
	}
	ranges, skipped := x.Ranges(c.window)
	var list []io.Reader
	for _, r := range ranges {
		var before [1]byte
		if r.From > 0 {
			if _, err := f.ReadAt(before[:], r.From-1); err != nil || before[0] != '\n' {
				return nil // the file has been changed
			}
		}
		list = append(list, io.NewSectionReader(f, r.From, r.To-r.From))
	}
	c.skipped.add(Counts{
		Lines: skipped.Lines, Foreign: skipped.Foreign, NoTime: skipped.NoTime,
	})
	return io.MultiReader(list...)
}

func (c *chain) leftOut() Counts { return c.skipped }

func (c *chain) Close() error {
	if c.file != nil {
		return c.file.Close()
	}
	return nil
}
