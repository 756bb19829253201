// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A block is a fenced block of a document.
type block struct {
	document string
	line     int
	language string // after the fence
	text     string
}

func (b block) at(err error) error {
	if err != nil {
		err = fmt.Errorf("%s:%d: %w", b.document, b.line, err)
	}
	return err
}

var (
	isProgram = regexp.MustCompile(`(?m)^package main$`)
	// isDriven finds programs that serve or take arguments: the commands behind
	// them in the document run them.
	isDriven = regexp.MustCompile(`ListenAndServe|\.Serve\(|os\.Args`)
	// isCommand finds blocks of commands that are not marked as such, and would
	// not be run.
	isCommand = regexp.MustCompile(`^(\$ |go (get|install|run|mod|vet|test|tool) |make |nib |allocs |cd ` +
		`|benchstat |curl |docker |kubectl |apt-get |export )`)
	// isSetting finds settings in text, in code and in files of systemd and
	// Docker. A value without quotes ends at a space, a backquote or a quote.
	// NIB_SEED is a variable of the tests.
	isSetting = regexp.MustCompile("\\b(NIB_[A-Z]+)=(?:'([^']+)'|\"([^\"]+)\"|([^\\s`'\"]+))")
	// isElsewhere finds commands that need the checkout, a server, the system or a
	// file of the reader's, or run until they are stopped. A match in a first line
	// that changes the directory is for the whole block.
	isElsewhere = regexp.MustCompile(`^(make|git clone|cd (e2e|bridge|allocs|bench)\b|apt-get|rsyslogd|systemctl|docker` +
		`|kubectl|kafka-|ssh|sudo) ?|kafka://|syslog|relp:|otlp\+|elastic\+|^nib (tail|view) |\.zst\b|-http |\bFILE\b` +
		`|^allocs .*--go `)
)

// documents returns the documents that users read: README.md, SKILL.md, docs,
// and the README of each published module.
func (r *repository) documents() (list []string) {
	for name := range strings.FieldsSeq(r.git("ls-files", "README.md", "SKILL.md", "docs/*.md", "*/README.md")) {
		folder := path.Dir(name)
		if folder == "docs" || slices.Contains(published, folder) {
			list = append(list, name)
		}
	}
	return list
}

// each calls f for each block of the documents. f returns the number of what it
// has found there; nothing in all of them is a fault.
func (u *user) each(what string, f func(b block) (int, error)) error {
	var faults []error
	count := 0
	for _, name := range u.documents() {
		text, err := os.ReadFile(filepath.Join(u.dir, name))
		if err != nil {
			return err
		}
		for _, b := range blocksOf(name, string(text)) {
			n, err := f(b)
			count += n
			faults = append(faults, b.at(err))
		}
	}
	fmt.Printf("       %d %s\n", count, what)
	if count == 0 {
		faults = append(faults, errors.New("no "+what+" were found in the documents"))
	}
	return errors.Join(faults...)
}

// blocksOf returns the fenced blocks of a text in Markdown, and each other line
// as a block of the language "text".
func blocksOf(name, text string) (list []block) {
	fenced, line := false, 0
	for raw := range strings.Lines(text) {
		line++
		trimmed := strings.TrimSpace(raw)
		language, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case fence && !fenced:
			list = append(list, block{name, line, language, ""})
			fenced = true
		case fence:
			fenced = false
		case fenced:
			list[len(list)-1].text += raw
		default:
			list = append(list, block{name, line, "text", raw})
		}
	}
	return list
}

// examples builds the whole programs of the documents, and runs them unless
// commands do.
func (u *user) examples() error {
	const name = "programs"
	if err := u.module(name); err != nil {
		return err
	}
	for _, folder := range published {
		if folder != "cmd/nib" {
			if _, err := u.run(name, "go", "get", pathOf(folder)+"@latest"); err != nil {
				return err
			}
		}
	}
	return u.each("programs", func(b block) (int, error) {
		if b.language != "go" || !isProgram.MatchString(b.text) {
			return 0, nil
		}
		return 1, u.program(name, b.text, !isDriven.MatchString(b.text))
	})
}

// program builds a program in a module, and perhaps runs it.
func (u *user) program(module, text string, run bool) error {
	file := filepath.Join(u.home, module, "main.go")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"vet", "."}, {"build", "-o", "program", "."}} {
		if _, err := u.run(module, "go", args...); err != nil {
			return err
		}
	}
	if !run {
		return nil
	}
	_, err := u.run(module, filepath.Join(u.home, module, "program"))
	return err
}

// settings passes package setup each setting of the documents.
func (u *user) settings() error {
	const name = "settings"
	if err := errors.Join(u.module(name), u.program(name, settingsText, false)); err != nil {
		return err
	}
	return u.each("settings", func(b block) (n int, err error) {
		for _, s := range settingsOf(b.text) {
			n++
			dir := filepath.Join(u.home, name)
			env := append(slices.Clone(u.env), s)
			_, fault := u.runWith(env, dir, filepath.Join(dir, "program"))
			if fault != nil && !lacksFilesOnly(fault) {
				err = errors.Join(err, fmt.Errorf("%s: %w", s, fault))
			}
		}
		return n, err
	})
}

// settingsOf returns the settings in a text. It skips values with an ellipsis.
func settingsOf(text string) (list []string) {
	for _, m := range isSetting.FindAllStringSubmatch(text, -1) {
		value := m[2] + m[3] + strings.TrimRight(m[4], ".,;:)*")
		if value != "" && !strings.Contains(value, "…") && m[1] != "NIB_SEED" {
			list = append(list, m[1]+"="+value)
		}
	}
	return list
}

// lacksFilesOnly reports whether only files of the user, such as certificates,
// are missing.
func lacksFilesOnly(err error) bool {
	_, text, _ := strings.Cut(err.Error(), "\n")
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(strings.TrimSpace(line), ": no such file or directory") {
			return false
		}
	}
	return text != ""
}

// commands runs the commands in the documents. A block is a script: it starts
// in a module that logs through nib, or in the module of the preceding program
// in the same document that serves or takes arguments. The system directories
// that it names are moved below a temporary one.
func (u *user) commands() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	u.address = l.Addr().String()
	if err := errors.Join(l.Close(), u.service()); err != nil {
		return err
	}
	document, folder := "", ""
	return u.each("commands", func(b block) (int, error) {
		if b.document != document {
			document, folder = b.document, "your/module"
		}
		switch {
		case b.language == "" && isCommand.MatchString(b.text), b.language == "text" &&
			strings.HasPrefix(b.text, "    ") && isCommand.MatchString(strings.TrimSpace(b.text)):
			return 0, errors.New("put the commands into a fenced block of sh, so that they are run")
		case b.language == "go" && isProgram.MatchString(b.text) && isDriven.MatchString(b.text):
			folder = "serve-" + strings.ReplaceAll(strings.TrimSuffix(document, ".md"), "/", "-")
			return 0, errors.Join(u.module(folder), u.program(folder, u.placed(b.text), false))
		case b.language != "sh":
			return 0, nil
		}
		script := scriptOf(b.text)
		n := strings.Count(script, "\n")
		if n == 0 {
			return 0, nil
		}
		at := folder
		if strings.Contains(script, "cd your/module") {
			at = "."
		}
		script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + u.placed(script) // ends services
		_, err := u.run(at, "bash", "-euo", "pipefail", "-c", script)
		return n, err
	})
}

// scriptOf returns the commands of a block that can be run here.
func scriptOf(text string) (script string) {
	for i, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " ")), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		elsewhere := isElsewhere.MatchString(line)
		if elsewhere && i == 0 && strings.HasPrefix(line, "cd ") {
			return ""
		}
		if elsewhere || line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "nib relay ") && !strings.Contains(line, "--once") {
			line = "nib relay --once " + strings.TrimPrefix(line, "nib relay ") // instead of running on
		}
		script += line + "\n"
	}
	return script
}

// service makes the module in which commands run, and runs it once: it leaves a
// spool and a file.
func (u *user) service() error {
	for _, folder := range []string{"var/log/app", "var/log/shop", "var/spool", "your"} {
		if err := os.MkdirAll(filepath.Join(u.home, folder), 0o755); err != nil {
			return err
		}
	}
	if err := errors.Join(u.module("your/module"), u.program("your/module", u.placed(serviceText), true)); err != nil {
		return err
	}
	line := fmt.Sprintf(`{"time":%q,"level":"warn","took":300,"path":"/api/carts","message":"slow"}`+"\n",
		time.Now().Format(time.RFC3339))
	for _, name := range []string{"your/module/app.log", "var/log/shop/shop.log"} { // input of nib cat and nib stat
		if err := os.WriteFile(filepath.Join(u.home, name), []byte(line), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// placed moves the directories of the system below the home, and the service of
// the documents to a free port.
func (u *user) placed(text string) string {
	return strings.NewReplacer("/var/", filepath.ToSlash(u.home)+"/var/", "127.0.0.1:8080", u.address).Replace(text)
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

const settingsText = `package main

import (
	"fmt"
	"os"

	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/setup"
)

func main() {
	if _, err := setup.Read(setup.FromEnv("NIB"), setup.Kinds(elastic.Kind, kafka.Kind, otlp.Kind)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`
