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
)

// A block is a fenced block of a document.
type block struct {
	document string
	line     int
	language string // after the fence
	text     string
}

// String returns the place of the block, which is a valid name of a package.
func (b block) String() string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(b.document, "/", "-"), b.line)
}

func (b block) isProgram() bool { return b.language == "go" && isProgram.MatchString(b.text) }

var (
	isProgram = regexp.MustCompile(`(?m)^package main$`)
	// isDriven finds programs that serve or take arguments: the commands behind
	// them in the document run them.
	isDriven = regexp.MustCompile(`ListenAndServe|\.Serve\(|os\.Args`)
	// isCommand finds blocks of commands that are not marked as such, and would
	// not be run.
	isCommand = regexp.MustCompile(`^(\$ |go (get|install|run|mod|vet|test|tool) |make |nib ` +
		`|allocs |cd |benchstat |curl |docker |kubectl |apt-get |export )`)
	// isSetting finds settings in text, code, and files of systemd and Docker.
	isSetting = regexp.MustCompile("\\b(NIB_[A-Z]+)=(?:'([^']+)'|\"([^\"]+)\"|([^\\s`'\"]+))")
	// isElsewhere finds commands that need the checkout, a server, the system or a
	// file of the reader's, or run until they are stopped. A match in a first line
	// that changes the directory is for the whole block.
	isElsewhere = regexp.MustCompile(`^(make|git clone|cd (e2e|bridge|allocs|bench)\b|apt-get` +
		`|rsyslogd|systemctl|docker|kubectl|kafka-|ssh|sudo) ?|kafka://|syslog|relp:|otlp\+` +
		`|elastic\+|^nib (tail|view) |\.zst\b|-http |\bFILE\b|^allocs .*--go `)
)

// each calls f for each block of README.md, SKILL.md, docs, and the README of
// each published module. f returns the number of what it has found there;
// nothing in all of them is a fault.
func (u *user) each(what string, f func(b block) (int, error)) error {
	names, err := u.files("README.md SKILL.md 'docs/*.md' '*/README.md'")
	faults, count := []error{err}, 0
	for _, name := range names {
		if folder := path.Dir(name); folder != "docs" && !slices.Contains(published, folder) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(u.dir, name))
		faults = append(faults, err)
		for _, b := range blocksOf(name, string(text)) {
			n, err := f(b)
			count += n
			if err != nil {
				faults = append(faults, fmt.Errorf("%s:%d: %w", name, b.line, err))
			}
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
		language, fence := strings.CutPrefix(strings.TrimSpace(raw), "```")
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

// examples builds the whole programs of the documents, each a package of one
// module, and runs them unless commands do. The module also imports all
// published packages, so that go mod tidy looks at the tests of all.
func (u *user) examples() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	u.address = l.Addr().String()
	run := "../bin/user log\n"
	err = u.each("programs", func(b block) (int, error) {
		if !b.isProgram() {
			return 0, nil
		}
		if !isDriven.MatchString(b.text) {
			run += "../bin/" + b.String() + "\n"
		}
		return 1, u.write(b.String(), b.text)
	})
	if err := errors.Join(err, l.Close(), u.write("user", userText)); err != nil {
		return err
	}
	modules := ""
	for _, folder := range published {
		modules += " " + pathOf(folder)
	}
	const form = `{{if ne .Name "main"}}import _ "{{.ImportPath}}"{{end}}`
	const list = "go list -find -f '" + form + "' $(printf '%s/... ' $MODULES) | grep -v /internal"
	_, err = u.run("documents", u.placed(`go mod init example.com/documents
go get $(printf '%s@latest ' $MODULES)
mkdir all ../bin
(echo "package all"; `+list+`) >all/all.go
go mod tidy
go vet ./...
go build -o ../bin/ ./...
mkdir -p /var/log/app /var/log/shop /var/spool
`+run), "MODULES="+modules)
	return err
}

// settingsOf returns the settings in a text. It skips values with an ellipsis,
// and NIB_SEED, which is a variable of the tests.
func settingsOf(text string) (list []string) {
	for _, m := range isSetting.FindAllStringSubmatch(text, -1) {
		value := m[2] + m[3] + strings.TrimRight(m[4], ".,;:)*")
		if value != "" && !strings.Contains(value, "…") && m[1] != "NIB_SEED" {
			list = append(list, m[1]+"="+value)
		}
	}
	return list
}

// commands passes package setup each setting of the documents, and runs their
// commands. A block is a script: it starts in a module that logs through nib,
// or with the preceding program in the same document that serves or takes
// arguments. It finds the spool and the file that examples has left. Equal
// blocks are run once.
func (u *user) commands() error {
	const service = "your/module"
	_, err := u.run(service, u.placed(`go mod init example.com/your/module
echo '{"time":"'$(date -Is)'","level":"warn","took":300,"path":"/api","message":"slow"}' |
	tee app.log >/var/log/shop/shop.log`))
	if err := errors.Join(err, u.write("../"+service, moduleText)); err != nil {
		return err
	}
	document, folder, done := "", "", map[string]bool{}
	return u.each("settings and commands", func(b block) (n int, err error) {
		if b.document != document {
			document, folder = b.document, service
		}
		for _, s := range settingsOf(b.text) {
			n++
			_, fault := u.run("documents", "../bin/user", s)
			err = errors.Join(err, fault)
		}
		switch {
		case b.language == "" && isCommand.MatchString(b.text), b.language == "text" &&
			strings.HasPrefix(b.text, "    ") && isCommand.MatchString(strings.TrimSpace(b.text)):
			err = errors.New("put the commands into a fenced block of sh, so that they are run")
		case b.isProgram() && isDriven.MatchString(b.text):
			folder = "documents/" + b.String()
		case b.language == "sh":
			at, text := folder, scriptOf(b.text)
			if strings.Contains(text, "cd your/module") {
				at = "."
			}
			if key := at + text; text != "" && !done[key] {
				done[key] = true
				n += strings.Count(text, "\n")
				_, fault := u.run(at, "trap 'kill $(jobs -p) || true' EXIT\n"+u.placed(text))
				err = errors.Join(err, fault)
			}
		}
		return n, err
	})
}

// scriptOf returns the commands of a block that can be run here.
func scriptOf(text string) (script string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " "))
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		elsewhere := isElsewhere.MatchString(line)
		if elsewhere && i == 0 && strings.HasPrefix(line, "cd ") {
			return ""
		}
		if elsewhere || line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.Replace(line, "nib relay --once", "nib relay", 1)
		line = strings.Replace(line, "nib relay ", "nib relay --once ", 1) // it would run on
		script += line + "\n"
	}
	return script
}

// placed moves the directories of the system below the home, and the service of
// the documents to a free port.
func (u *user) placed(text string) string {
	return strings.NewReplacer("/var/", u.home+"/var/", "127.0.0.1:8080", u.address).Replace(text)
}

// moduleText is a short program that logs: allocs compiles all that it imports.
const moduleText = `package main

import (
	"os"

	"github.com/nib-log/nib"
)

func main() { nib.New(os.Stdout).Info().Str("user", "ann").Msg("started") }
`

// userText checks settings, which may name files that only the reader has, such
// as certificates. With an argument it leaves a file and a spool, as a killed
// process does.
const userText = `package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/setup"
)

func main() {
	_, err := setup.Read(setup.FromEnv("NIB"), setup.Kinds(elastic.Kind, kafka.Kind, otlp.Kind))
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			if !strings.HasSuffix(strings.TrimSpace(line), ": no such file or directory") {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	if len(os.Args) > 1 {
		os.Setenv("NIB_OUTPUT", "file:/var/log/app/app.log?spool=/var/spool/app")
		log, err := setup.Open(setup.FromEnv("NIB"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		log.Info().Str("user", "ann").Msg("started")
		os.Exit(0)
	}
}
`
