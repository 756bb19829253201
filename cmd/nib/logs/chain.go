// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/nib-log/nib/internal/lineindex"
)

// A chain reads files one after the other, each from its first line. With a
// directory of indexes it leaves out lines that are not in a window.
type chain struct {
	paths []string
	file  io.ReadCloser
	last  byte // the last byte read, to end a line that the file does not end
	// The last file is plain and ends here if limited is set.
	end     int64
	limited bool
	ctx     context.Context
	indexes string
	window  lineindex.Window
	skipped Counts
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

func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.file == nil {
			if len(c.paths) == 0 {
				return 0, io.EOF
			}
			if c.last != 0 && c.last != '\n' {
				p[0], c.last = '\n', '\n'
				return 1, nil
			}
			if err := c.next(); err != nil {
				return 0, err
			}
		}
		n, err := c.file.Read(p)
		if n > 0 {
			c.last = p[n-1]
		}
		if err == io.EOF {
			_ = c.file.Close() // only read
			c.file = nil
			c.paths = c.paths[1:]
			err = nil
		} else if err != nil {
			err = fmt.Errorf("%s: %w", c.paths[0], err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next opens the next file.
func (c *chain) next() error {
	f, err := os.Open(c.paths[0])
	if err != nil {
		return err
	}
	if r := c.indexed(f); r != nil {
		c.file = &opened{r, f}
		return nil
	}
	var r io.ReadCloser = f
	if c.limited && len(c.paths) == 1 {
		r = &opened{io.LimitReader(f, c.end), f}
	}
	if c.file, err = decompress(r); err != nil {
		c.file = nil
		_ = f.Close() // only read
		return fmt.Errorf("%s: %w", c.paths[0], err)
	}
	return nil
}

// indexed returns a reader of the parts of a plain file that may have lines of
// the window, or nil if there is no index for it.
func (c *chain) indexed(f *os.File) io.Reader {
	if c.indexes == "" {
		return nil
	}
	var first [longestMagic]byte
	if n, err := f.ReadAt(first[:], 0); err != nil || formatOf(first[:n]) != nil {
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
	c.skipped.add(Counts{Lines: skipped.Lines, Foreign: skipped.Foreign})
	return io.MultiReader(list...)
}

func (c *chain) Close() error {
	if c.file != nil {
		return c.file.Close()
	}
	return nil
}
