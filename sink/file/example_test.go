// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file"
)

// directory returns the directory of the examples.
func directory() string {
	dir, err := os.MkdirTemp("", "nib")
	if err != nil {
		panic(err)
	}
	return dir
}

// timeless omits the time, which differs from run to run.
var timeless = nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})

func Example() {
	dir := directory()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.log")
	out, err := file.Open(path, file.Config{
		MaxSize: 100 << 20, MaxBackups: 7, Compress: file.Gzip(0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := nib.NewSink(out, timeless)
	log.Info().Int("port", 8080).Msg("ready")
	if err := out.Close(); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	// Output: {"level":"info","port":8080,"message":"ready"}
}

// Lines are collected for 10 ms. Before the program ends they are written by
// Fatal, which flushes, or by Close.
func Example_buffered() {
	dir := directory()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.log")
	out, err := file.Open(path, file.Config{Buffer: 32 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := nib.NewSink(out, timeless)
	for i := range 3 {
		log.Info().Int("request", i).Msg("served")
	}
	if err := out.Close(); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	// Output:
	// {"level":"info","request":0,"message":"served"}
	// {"level":"info","request":1,"message":"served"}
	// {"level":"info","request":2,"message":"served"}
}

// The old file is named after the time at which it was ended.
func ExampleSink_Rotate() {
	dir := directory()
	defer os.RemoveAll(dir)
	out, err := file.Open(filepath.Join(dir, "app.log"), file.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Close()
	log := nib.NewSink(out, timeless)
	log.Info().Msg("before")
	if err := out.Rotate(); err != nil {
		fmt.Println(err)
	}
	log.Info().Msg("after")
	names, _ := filepath.Glob(filepath.Join(dir, "app*"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		stem, _, _ := strings.Cut(filepath.Base(name), "-2")
		fmt.Print(stem, ": ", string(text))
	}
	// Output:
	// app: {"level":"info","message":"before"}
	// app.log: {"level":"info","message":"after"}
}
