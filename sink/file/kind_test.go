// SPDX-License-Identifier: Apache-2.0

package file

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// Each parameter reaches the Config, which has no other fields but OnError and
// Layout and View.
func TestEveryParameterReachesTheConfig(t *testing.T) {
	_, p, err := target.Parse("file:x?buffer=1B&delay=2ns&max_size=3B&every=4s&at=00:05&at=00:06&zone=UTC&backups=6&max_age=7d&max_total=8B&compress=gzip&mode=0611&min_free=10B&sync=always&lumberjack_names=on", []target.Spec{Kind})
	must(t, err)
	for _, s := range settings.Of(p) {
		if !s.IsSet() || s.Doc == "" || s.Default == "" {
			t.Errorf("%s is not set, or has no documentation or default", s.Name)
		}
	}
	c := p.(*params).config()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "OnError" && f.Name != "Layout" && f.Name != "View" && v.Field(i).IsZero() {
			t.Errorf("Config.%s is not set", f.Name)
		}
	}
	if c.Buffer != 1 || c.Delay != 2 || c.MaxSize != 3 || c.MaxBackups != 6 || c.MaxTotal != 8 || c.MinFree != 10 || c.Sync != SyncAlways {
		t.Errorf("got %+v", c)
	}
	if c.Zone != time.UTC || c.Compress.Extension != ".gz" {
		t.Errorf("got Zone %v and Compress %v", c.Zone, c.Compress.Extension)
	}
}

func TestParametersThatAreNotSet(t *testing.T) {
	for text, policy := range map[string]SyncPolicy{"file:x": SyncNever, "file:x?sync=never&compress=none": SyncNever, "file:x?sync=flush": SyncFlush} {
		_, p, err := target.Parse(text, []target.Spec{Kind})
		must(t, err)
		c := p.(*params).config()
		if c.Zone != nil || c.Compress.Compress != nil || c.Sync != policy {
			t.Errorf("%s: got Zone %v, Compress %v and Sync %v", text, c.Zone,
				c.Compress.Extension, c.Sync)
		}
	}
}

// TestInvalidParameters checks that a target has the rules of Config.
func TestInvalidParameters(t *testing.T) {
	_, _, err := target.Parse("file:x?delay=1s", []target.Spec{Kind})
	if err == nil || !strings.Contains(err.Error(), "without Buffer") {
		t.Errorf("got %v, want an error of Delay without Buffer", err)
	}
}

func TestKindOpensAFile(t *testing.T) {
	to, p, err := target.Parse("file:"+settings.Escape(filepath.Join(t.TempDir(), "a,b?c.log")), []target.Spec{Kind})
	must(t, err)
	to.Layout.TimeKey = "@timestamp"
	d, err := p.Open(to)
	must(t, err)
	if got := d.(*Sink).w.given.Layout.TimeKey; got != "@timestamp" {
		t.Errorf("got a layout with the time under %q", got)
	}
	if err := d.(*Sink).Close(); err != nil {
		t.Error(err)
	}
	to.Path = filepath.Join(to.Path, "below")
	if _, err := p.Open(to); err == nil {
		t.Error("a file was opened below a file")
	}
}
