// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// views runs nib view as a process and returns the messages of its first rows.
func views(t *testing.T, stdin string, want int, args ...string) string {
	t.Helper()
	cmd := child(append([]string{"view"}, args...)...)
	cmd.Env = append(os.Environ(), asNib+"=1", "TMPDIR="+t.TempDir())
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	address := ""
	for r := bufio.NewScanner(out); address == "" && r.Scan(); {
		if line := strings.TrimSpace(r.Text()); strings.HasPrefix(line, "http://127.0.0.1:") {
			address = line
		}
	}
	var list []string
	for end := time.Now().Add(20 * time.Second); len(list) != want && time.Now().Before(end); {
		list = nil
		resp, err := http.Get(address + "api/rows?row=-10&n=60")
		must(t, err)
		var rows struct{ Rows []struct{ Message string } }
		must(t, json.NewDecoder(resp.Body).Decode(&rows), resp.Body.Close())
		for _, r := range rows.Rows {
			list = append(list, r.Message)
		}
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("nib view: %v\n%s", err, &stderr)
	}
	for _, e := range cmd.Env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok && dir != os.Getenv("TMPDIR") {
			if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
				t.Errorf("the temporary directory has %v, %v", files, err)
			}
		}
	}
	return strings.Join(list, " ")
}

func TestViewReadsWhatCatReads(t *testing.T) {
	dir := t.TempDir()
	line := func(second, message string) string {
		return `{"time":"2026-11-22T09:00:0` + second + `Z","level":"info","message":"` + message + `"}` + "\n"
	}
	plain, packed, other := filepath.Join(dir, "app.log"), filepath.Join(dir, "app.log.1.gz"), filepath.Join(dir, "other.log")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(line("1", "b") + line("3", "d")))
	must(t, err, z.Close(), os.WriteFile(packed, b.Bytes(), 0o600),
		os.WriteFile(plain, []byte(line("5", "f")+line("7", "h")), 0o600),
		os.WriteFile(other, []byte(line("0", "a")+line("2", "c")+line("4", "e")+line("6", "g")), 0o600))
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{plain}, "f h"},
		{"", []string{packed}, "b d"},
		{"", []string{packed, plain}, "b d f h"},
		{"", []string{packed, plain, other}, "a b c d e f g h"},
		{line("1", "x") + "y\n", nil, "x y"},
		{line("1", "x"), []string{"-"}, "x"},
	} {
		if got := views(t, c.stdin, len(strings.Fields(c.want)), c.args...); got != c.want {
			t.Errorf("nib view %v: got %s, want %s", c.args, got, c.want)
		}
	}
}

func TestViewRefusesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "app.log"), nil, 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(dir, "missing.log")}, "missing.log: no such file"},
		{[]string{filepath.Join(dir, "app.log"), filepath.Join(dir, "missing.log")}, "missing.log: no such file"},
		{[]string{dir}, "is a directory without a spool"},
		{[]string{"--port", "70000", filepath.Join(dir, "app.log")}, `invalid argument "70000" for "--port"`},
	} {
		code, stdout, stderr := run(append([]string{"view"}, c.args...)...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("nib view %v: got code %d\nstdout %s\nstderr %s", c.args, code, stdout, stderr)
		}
	}
}
