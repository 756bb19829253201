// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
)

// views runs nib view as a process and returns the messages of its first rows.
func views(t *testing.T, stdin string, want int, args ...string) string {
	t.Helper()
	return viewsThen(t, stdin, args, []int{want}, nil)[0]
}

// viewsThen is like views, several times: whenever there are as many rows as
// wanted it calls then, which adds others.
func viewsThen(t *testing.T, stdin string, args []string, want []int, then func(step int)) (seen []string) {
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
	for step, n := range want {
		var list []string
		for end := time.Now().Add(2 * time.Minute); len(list) != n && time.Now().Before(end); {
			list = nil
			resp, err := http.Get(address + "api/rows?row=-10&n=60")
			must(t, err)
			var rows struct{ Rows []struct{ Message string } }
			must(t, json.NewDecoder(resp.Body).Decode(&rows), resp.Body.Close())
			for _, r := range rows.Rows {
				list = append(list, r.Message)
			}
		}
		if seen = append(seen, strings.Join(list, " ")); step+1 < len(want) {
			then(step)
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
	return seen
}

// TestViewFollowsSeveralLogs adds lines to two files and a spool.
func TestViewFollowsSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	line := func(second int, message string) string {
		return fmt.Sprintf(`{"time":"2026-11-22T09:00:%02dZ","level":"info","message":%q}`+"\n", second, message)
	}
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	must(t, os.WriteFile(a, []byte(line(1, "a1")+line(4, "a4")), 0o600), os.WriteFile(b, []byte(line(3, "b3")), 0o600))
	s := keep(t, filepath.Join(dir, "spool"), 0, spool.Config{Name: "file"})
	defer s.Close()
	log := func(text string) { must(t, s.WriteRecord(&nib.Record{Level: nib.LevelInfo, Line: []byte(text)})) }
	log(line(2, "s2"))
	add := func(name, text string) {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, err, f.Close())
	}
	got := viewsThen(t, "", []string{a, b, filepath.Join(dir, "spool")}, []int{4, 5, 6, 8}, func(step int) {
		switch step {
		case 0:
			add(b, line(5, "b5"))
		case 1:
			log(line(6, "s6"))
		case 2:
			add(a, line(7, "a7")+line(8, "a8"))
		}
	})
	want := []string{"a1 s2 b3 a4", "a1 s2 b3 a4 b5", "a1 s2 b3 a4 b5 s6", "a1 s2 b3 a4 b5 s6 a7 a8"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// New files of a pattern and new spools of a directory are picked up, and files
// that are rotated.
func TestViewPicksUpNewFiles(t *testing.T) {
	dir, spools := t.TempDir(), t.TempDir()
	line := func(second int, message string) string {
		return fmt.Sprintf(`{"time":"2026-11-22T09:00:%02dZ","level":"info","message":%q}`+"\n",
			second, message)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) { must(t, os.WriteFile(in(name), []byte(text), 0o600)) }
	write("a.log", line(1, "a1"))
	must(t, keep(t, filepath.Join(spools, "one"), 1, spool.Config{Name: "file"}).Close())
	got := viewsThen(t, "", []string{in("*.log"), spools}, []int{2, 3, 5, 6}, func(step int) {
		switch step {
		case 0:
			write("b.log", line(2, "b2"))
		case 1:
			must(t, os.Rename(in("a.log"), in("a.log.1")))
			write("a.log", line(3, "a3"))
			must(t, os.Rename(in("a.log"), in("a.log.0")))
			write("a.log", line(4, "a4"))
		case 2:
			must(t, keep(t, filepath.Join(spools, "two"), 1, spool.Config{Name: "file"}).Close())
		}
	})
	for i := range got {
		words := strings.Fields(got[i])
		slices.Sort(words)
		got[i] = strings.Join(words, " ")
	}
	if want := "a1 a3 a4 b2"; !strings.HasPrefix(got[2], want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestViewReadsWhatCatReads(t *testing.T) {
	dir := t.TempDir()
	line := func(second, message string) string {
		return `{"time":"2026-11-22T09:00:0` + second + `Z","level":"info","message":"` + message + `"}` + "\n"
	}
	const at = "2026-11-22T09:00:00.000000001Z stdout "
	parts := filepath.Join(dir, "parts.log")
	long := line("1", "whole")
	must(t, os.WriteFile(parts, []byte(at+"P "+long[:50]+"\n"+at+"F "+long[50:]), 0o600))
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
		{"", []string{parts}, "whole"},
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
