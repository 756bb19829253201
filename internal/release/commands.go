// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// elsewhere lists commands that are not run here, each with the reason. A match
// on the first line of a block excludes the whole block.
var elsewhere = []struct {
	pattern, reason string
}{
	{`^make `, ".ci/run runs the verbs"},
	{`^git clone `, "the repository is at hand"},
	{`^cd (e2e|bridge|allocs|bench)\b`, "in a checkout, where .ci/run does it"},
	{`^(apt-get|rsyslogd|systemctl|docker|kubectl|kafka-|ssh|sudo) ?`, "needs a system or a server"},
	{`kafka://|syslog|relp:|otlp\+|elastic\+`, "needs a server"},
	{`^nib (tail|view) `, "runs until it is stopped"},
	{`\.zst\b`, "needs a compressed file of the reader's"},
	{`-http `, "opens a browser"},
	{`\bFILE\b`, "needs a file of the reader's"},
	{`^allocs .*--go `, "fetches other releases of Go"},
}

// commands runs the commands in the documents. A block is a script: it starts
// in a module that logs through nib, or in the module of the preceding program
// in the same document that serves or takes arguments. The system directories
// that it names are moved below a temporary one.
func (u *user) commands() error {
	blocks, err := u.blocks()
	if err != nil {
		return err
	}
	if u.address, err = freeAddress(); err != nil {
		return err
	}
	if err := u.service(); err != nil {
		return err
	}
	var faults []error
	ran, skipped := 0, 0
	document, folder := "", ""
	for _, b := range blocks {
		if name, _, _ := strings.Cut(b.at, ":"); name != document {
			document, folder = name, "your/module"
		}
		if b.language == "" && isCommand.MatchString(b.text) {
			faults = append(faults, fmt.Errorf("%s: put the commands into a fenced block of sh, so that they are run", b.at))
		}
		if b.language == "go" && isProgram.MatchString(b.text) && isDriven.MatchString(b.text) {
			if folder, err = u.server(document, b.text); err != nil {
				return fmt.Errorf("%s: %w", b.at, err)
			}
		}
		if b.language != "sh" {
			continue
		}
		script, left := scriptOf(b.text)
		skipped += left
		if script == "" {
			continue
		}
		ran += strings.Count(script, "\n")
		if err := u.script(b.at, folder, script); err != nil {
			faults = append(faults, err)
		}
	}
	fmt.Printf("       %d commands run, %d left to .ci/run or without their server\n", ran, skipped)
	if ran == 0 {
		faults = append(faults, errors.New("no command was found in the documents"))
	}
	return errors.Join(faults...)
}

// scriptOf returns the commands of a block that can be run here, and the number
// of those that cannot.
func scriptOf(text string) (script string, skipped int) {
	all := false
	for i, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " ")), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		skip := all || isElsewhere(line)
		all = all || i == 0 && strings.HasPrefix(line, "cd ") && skip
		if skip {
			skipped++
			continue
		}
		if strings.HasPrefix(line, "nib relay ") && !strings.Contains(line, "--once") {
			line = "nib relay --once " + strings.TrimPrefix(line, "nib relay ") // without --once it would run until it is stopped
		}
		script += line + "\n"
	}
	return script, skipped
}

func isElsewhere(line string) bool {
	for _, e := range elsewhere {
		if regexp.MustCompile(e.pattern).MatchString(line) {
			return true
		}
	}
	return false
}

// service makes the module in which commands run, and runs it once: it leaves a
// spool and a file.
func (u *user) service() error {
	for _, folder := range []string{"var/log/app", "var/log/shop", "var/spool", "your"} {
		if err := os.MkdirAll(filepath.Join(u.home, folder), 0o755); err != nil {
			return err
		}
	}
	if err := u.module("your/module"); err != nil {
		return err
	}
	line := fmt.Sprintf(`{"time":%q,"level":"warn","took":300,"path":"/api/carts","message":"slow"}`+"\n", time.Now().Format(time.RFC3339))
	for _, name := range []string{"your/module/app.log", "var/log/shop/shop.log"} { // input of nib cat and nib stat
		if err := os.WriteFile(filepath.Join(u.home, name), []byte(line), 0o644); err != nil {
			return err
		}
	}
	main := filepath.Join(u.home, "your", "module", "main.go")
	if err := os.WriteFile(main, []byte(u.placed(serviceText)), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"get", rootPath + "@" + u.version}, {"run", "."}} {
		if _, err := u.run("your/module", "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// server makes a module of a server, and returns its folder.
func (u *user) server(document, text string) (folder string, err error) {
	folder = "serve-" + strings.ReplaceAll(strings.TrimSuffix(document, ".md"), "/", "-")
	if err := u.module(folder); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(u.home, folder, "main.go"), []byte(u.placed(text)), 0o644); err != nil {
		return "", err
	}
	_, err = u.run(folder, "go", "mod", "tidy")
	return folder, err
}

// freeAddress returns an address on which a service can listen.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// placed moves the directories of the system below the home, and the service of
// the documents to a free port.
func (u *user) placed(text string) string {
	return strings.NewReplacer("/var/", filepath.ToSlash(u.home)+"/var/", "127.0.0.1:8080", u.address).Replace(text)
}

// script runs commands in a folder, and ends the services that they leave
// running.
func (u *user) script(at, folder, script string) error {
	if strings.Contains(script, "cd your/module") {
		folder = "."
	}
	script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + u.placed(script)
	if _, err := u.run(folder, "bash", "-euo", "pipefail", "-c", script); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// serviceText logs, and leaves a file and a spool, like a process that was
// killed.
const serviceText = `package main

import (
	"fmt"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/setup"
)

func main() {
	os.Setenv("NIB_OUTPUT", "file:/var/log/app/app.log?spool=/var/spool/app")
	log, err := setup.Open(setup.FromEnv("NIB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	log.With(func(e *nib.Event) { e.Str("service", "shop") }).Info().Str("user", "ann").Msg("started")
	os.Exit(0)
}
`
