// SPDX-License-Identifier: Apache-2.0

package klog_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/test"
)

// klog itself writes its default lines, and package logread reads them.
func TestLinesOfKlogE2E(t *testing.T) {
	test.InitKlog(t)
	defer klog.SetOutput(nil)
	l := new(logread.Line)
	l.SetZone(time.Local)
	for _, c := range []struct {
		level nib.Level
		log   func()
	}{
		{nib.LevelInfo, func() { klog.Info("it failed") }},
		{nib.LevelInfo, func() { klog.InfoS("it failed", "n", 1) }},
		{nib.LevelWarn, func() { klog.Warning("it failed") }},
		{nib.LevelError, func() { klog.ErrorS(errors.New("gone"), "it failed") }},
	} {
		var out bytes.Buffer
		klog.SetOutput(&out)
		before := time.Now()
		c.log()
		klog.Flush()
		after := time.Now()
		line, _, _ := bytes.Cut(out.Bytes(), []byte{'\n'}) // an error is in the logs below, too
		l.Reset(line)
		at, _ := l.Time()
		level, _ := l.Level()
		if at.Before(before.Truncate(time.Microsecond)) || at.After(after) ||
			level != c.level || string(l.Message()) != "it failed" {
			t.Errorf("%s: got %v, %v, %q", line, at, level, l.Message())
		}
	}
}
