// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var banner = strings.Repeat("banner\n", sampleLen)

// A rotated is what happens to a file between two looks.
type rotated struct {
	name  string
	read  string // what has been read
	files [][2]string
	moved string // the file that has been read; "" is its name
	want  string
}

var rotations = []rotated{
	{
		"two copies that begin alike", banner + "1\n",
		[][2]string{{".2", banner + "1\n2\n"}, {".1", banner + "3\n"}, {"", banner + "4\n"}}, "",
		"2\n" + banner + "3\n" + banner + "4\n",
	},
	{
		"copies that have the bytes that were read last", "start\n",
		[][2]string{{".2", "start\n1\n"}, {".1", "start\n2\n"}, {"", "3\n"}}, "",
		"1\nstart\n2\n3\n",
	},
	{
		"a copy without the lines that were read last", banner + "1\n2\n",
		[][2]string{{".2", banner + "1\n"}, {".1", banner + "3\n"}, {"", banner + "4\n"}}, "",
		banner + "3\n" + banner + "4\n",
	},
	{
		"copies before the one of the truncation", "a\n",
		[][2]string{{".3", "a\n"}, {".2", "a\nb\n"}, {".1", "a\nb\nc\n"}, {"", "d\n"}}, "",
		"b\nc\nd\n",
	},
	{
		"a copy that is not of the file", "a\n",
		[][2]string{{".2", "x\n"}, {".1", "a\nb\n"}, {"", "c\n"}}, "",
		"b\nc\n",
	},
	{
		"truncated and renamed", "a\n",
		[][2]string{{".2", "a\nb\n"}, {".1", "c\n"}, {"", "d\n"}}, ".1",
		"b\nc\nd\n",
	},
	{
		"copied, and renamed before it was read", "",
		[][2]string{{".2", "a\n"}, {".1", "b\n"}, {"", "c\n"}}, ".1",
		"a\nb\nc\n",
	},
	{
		"copied and renamed", "a\n",
		[][2]string{{".2", "a\n"}, {".1", "a\nb\n"}, {"", "c\n"}}, ".1",
		"b\nc\n",
	},
}

// Each line is read once and in order, also where copies begin alike, or a file
// is truncated and renamed, and when an event is noticed before the truncation.
func TestCopiesAndRenamedFilesAreReadOnce(t *testing.T) {
	for _, c := range rotations {
		for name, events := range map[string]int{c.name: 0, c.name + ", with an event": 1} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.check(t, events) })
			})
		}
	}
}

func (c *rotated) check(t *testing.T, events int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.log")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	changed := make(chan struct{}, 1)
	f := &follower{ctx: ctx, path: path, changed: changed}
	defer f.Close() // only read
	err := os.WriteFile(path, []byte(c.read), 0o600)
	text := make([]byte, len(c.read+c.want))
	_, bad := io.ReadFull(f, text[:len(c.read)])
	err = errors.Join(err, bad, os.Rename(path, path+c.moved))
	for _, file := range c.files {
		err = errors.Join(err, os.WriteFile(path+file[0], []byte(file[1]), 0o600))
	}
	for range events {
		changed <- struct{}{}
	}
	n, bad := io.ReadFull(f, text[len(c.read):])
	if got := string(text[len(c.read):][:n]); errors.Join(err, bad) != nil || got != c.want {
		t.Errorf("got %q, %v, want %q", got, errors.Join(err, bad), c.want)
	}
	if f.notice(); len(f.next) > 0 {
		t.Error("there are more files")
	}
}

// A file that was renamed before it was read is copied and truncated.
func TestACopyOfAFileThatWaitsIsReadBeforeIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(path+from, path+to); err != nil {
			t.Fatal(err)
		}
	}
	put("", "a\n")
	synctest.Test(t, func(t *testing.T) {
		f := &follower{ctx: t.Context(), path: path}
		defer f.Close() // only read
		text := make([]byte, len("a\nb\nc\nd\n"))
		n, err := f.Read(text)
		rename("", ".3")
		put("", "b\n")
		f.notice()
		put(".2", "b\n") // the copy
		put("", "c\n")
		rename("", ".1")
		put("", "d\n")
		f.notice()
		_, bad := io.ReadFull(f, text[n:])
		if got := string(text); errors.Join(err, bad) != nil || got != "a\nb\nc\nd\n" {
			t.Errorf("got %q, %v", got, errors.Join(err, bad))
		}
	})
}

// A file that waits and is compressed is older than the files behind it, also
// if the compressed file was deleted since.
func TestAFileThatWaitsAndIsCompressedIsReadFirst(t *testing.T) {
	var packed strings.Builder
	w := gzip.NewWriter(&packed)
	_, bad := io.WriteString(w, "1\n")
	if err := errors.Join(bad, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, isDeleted := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "app")
		put := func(name, text string) error { return os.WriteFile(path+name, []byte(text), 0o600) }
		err := put("", "1\n")
		synctest.Test(t, func(t *testing.T) {
			f := &follower{ctx: t.Context(), path: path}
			defer f.Close() // only read
			f.notice()
			err = errors.Join(err, os.Remove(path), put(".1", "2\n"), put("", "3\n"))
			if !isDeleted {
				err = errors.Join(err, put(".2.gz", packed.String()))
			}
			got := make([]byte, len("1\n2\n3\n"))
			_, bad := io.ReadFull(f, got)
			if errors.Join(err, bad) != nil || string(got) != "1\n2\n3\n" {
				t.Errorf("deleted %t: got %q, %v", isDeleted, got, errors.Join(err, bad))
			}
		})
	}
}

// More copies than may be open are made of a file that waits behind another.
func TestSoManyCopiesAreReadBeforeTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app")
	var want strings.Builder
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want.WriteString(text)
	}
	put("-20261128T103000.000000Z", "0\n")
	put("", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		f := &follower{ctx: ctx, path: path}
		defer f.Close() // only read
		f.notice()
		for n := 1; n < maxNext+10; n++ {
			put(fmt.Sprintf("-20261128T103000.%06dZ", n), fmt.Sprintln(n))
		}
		put("", "last\n")
		got := make([]byte, want.Len())
		if n, err := io.ReadFull(f, got); err != nil || string(got) != want.String() {
			t.Errorf("got %q, %v", got[:n], err)
		}
	})
}

// Copies that are deleted before they are read are reported.
func TestCopiesThatWereNotSeenAreReported(t *testing.T) {
	for name, want := range map[string]string{
		".1": "app.log was removed or renamed: an unknown number of bytes may be gone " +
			"before they were read",
		".3": "an unknown number of bytes of app.log.2 were gone before they were read",
		".2": "",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "app.log")
		put := func(name, text string) {
			t.Helper()
			if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put("", "a\n")
		synctest.Test(t, func(t *testing.T) {
			var reports []string
			s := Selection{Report: func(format string, args ...any) {
				reports = append(reports, fmt.Sprintf(format, args...))
			}}
			f := &follower{ctx: t.Context(), path: path, selection: s}
			defer f.Close() // only read
			text := make([]byte, len("a\nb\nd\ne\n"))
			n, err := f.Read(text)
			put(".1", "a\nb\n")
			put("", "")
			more, bad := f.Read(text[n:])
			n, err = n+more, errors.Join(err, bad, os.Rename(path+".1", path+name))
			put(".new", "d\n")
			err = errors.Join(err, os.Rename(path+".new", path+".1"))
			put("", "e\n")
			if _, bad = io.ReadFull(f, text[n:]); errors.Join(err, bad) != nil ||
				string(text) != "a\nb\nd\ne\n" {
				t.Errorf("got %q, %v", text, errors.Join(err, bad))
			}
			got := strings.ReplaceAll(strings.Join(reports, " "), dir+"/", "")
			if got != want {
				t.Errorf("app.log%s: got %q, want %q", name, got, want)
			}
		})
	}
}
