// SPDX-License-Identifier: Apache-2.0

package file

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/target"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		c    Config
		want string // parts of the error, one per line of it
	}{
		{"zero", Config{}, ""},
		{"everything", Config{
			MaxSize: 1, Every: time.Second, At: []string{"00:00", "23:59"}, Zone: time.UTC, MaxBackups: 1, MaxAge: 1, MaxTotal: 1,
			Compress: Gzip(0), Mode: 0o640, Buffer: 1, Delay: 1, MinFree: 1, Sync: SyncAlways, OnError: func(error) {},
		}, ""},
		{"bounds", Config{MaxSize: 5, MaxTotal: 5, Compress: Gzip(9), Mode: 0o600, Buffer: 1 << 30, Sync: SyncFlush}, ""},
		{"total alone", Config{MaxTotal: 1}, ""},
		{"size alone", Config{MaxSize: 1}, ""},
		{"negative", Config{MaxSize: -1, Every: -1, MaxBackups: -1, MaxAge: -1, MaxTotal: -1, Buffer: -1, Delay: -1, MinFree: -1, Sync: -1},
			"MaxSize|Every|MaxBackups|MaxAge|MaxTotal|Buffer|Delay|MinFree|Sync"},
		{"too often", Config{Every: time.Millisecond}, "less than a second"},
		{"times", Config{At: []string{"24:00", "9:30", "09:30:00", "", "noon", "09:30"}}, `"24:00"|"9:30"|"09:30:00"|""|"noon"`},
		{"zone alone", Config{Zone: time.UTC}, "Zone of UTC without At"},
		{"total below size", Config{MaxSize: 2, MaxTotal: 1}, "MaxTotal of 1 is less than MaxSize, 2"},
		{"delay alone", Config{Delay: time.Second}, "Delay of 1s without Buffer"},
		{"mode", Config{Mode: fs.ModeSetuid | 0o600}, "other bits"},
		{"mode that cannot be used", Config{Mode: 0o400}, "owner"},
		{"mode that cannot be read", Config{Mode: 0o200}, "owner"},
		{"other mode", Config{Mode: fs.ModeSetuid | 0o400}, "other bits|owner"},
		{"no function", Config{Compress: Compressor{Extension: ".x"}}, `but the extension ".x"`},
		{"extension", Config{Compress: packer("")}, `extension ""`},
		{"extension without a dot", Config{Compress: packer("gz")}, `extension "gz"`},
		{"extension of a temporary file", Config{Compress: packer(".tmp")}, `extension ".tmp"`},
		{"extension elsewhere", Config{Compress: packer("./../x")}, `extension "./../x"`},
		{"level", Config{Compress: Gzip(10)}, "level of Gzip is not from 1 to 9: 10"},
		{"negative level", Config{Compress: Gzip(-1)}, "level of Gzip is not from 1 to 9: -1"},
		{"layout", Config{Layout: nib.Layout{TimeKey: "a", MessageKey: "a"}}, "nib"},
		{"huge buffer", Config{Buffer: 1<<30 + 1}, "Buffer is more than 1 GiB: 1073741825"},
		{"policy", Config{Sync: 3}, "Sync"},
	} {
		err := c.c.Validate()
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })
		if len(got) != len(want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], "nib/file: ") || !strings.Contains(got[i], want[i]) {
				t.Errorf("%s:\n got %q\nwant one with %q", c.name, got[i], want[i])
			}
		}
		if err != nil {
			if _, openErr := Open(t.TempDir()+"/app.log", c.c); openErr == nil || openErr.Error() != err.Error() {
				t.Errorf("%s: Open returned %v, want %v", c.name, openErr, err)
			}
		}
	}
}

func TestOpenWantsTheNameOfAFile(t *testing.T) {
	for _, path := range []string{"", t.TempDir() + "/", t.TempDir() + "/new/"} {
		if _, err := Open(path, Config{}); err == nil || !strings.Contains(err.Error(), "is not the name of a file") {
			t.Errorf("%q: got %v", path, err)
		}
		to, p, _ := target.Parse("file:x", []target.Spec{Kind})
		to.Path = path
		if err := p.Validate(to); err == nil || !strings.Contains(err.Error(), "is not the name of a file") {
			t.Errorf("%q as a target: got %v", path, err)
		}
	}
}
