// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/cmd/nib/view"
)

func newView() *cobra.Command {
	var port uint16
	var open bool
	var keys string
	cmd := &cobra.Command{
		Use:   "view [FILE…]",
		Short: "Show logs in a browser: live, with a histogram, queries, and every line in full",
		Long: `Shows logs on a page in a browser: the newest lines at once, a histogram by
level, the most frequent values of each key, and every line in full. The page
follows the log until SIGINT or SIGTERM.

` + sourcesHelp + `

A plain file of any size is read in place, and followed through rotations. All
else is copied to a temporary file first: a page needs every line at any time.
Several logs are merged by time, and all of them are followed, with new files of
a pattern in quotes and new spools of a directory: lines that come within a
tenth of a second are merged, too. Standard input is followed if it is alone,
and else read to its end first.

The page is served on 127.0.0.1 only, at an address with a token, and loads
nothing from elsewhere. For logs of another host, forward the port:

  ssh -L 8080:127.0.0.1:8080 HOST nib view --port 8080 /var/log/app.log`,
		Example: `  nib view app.log
  nib view --open app.log.2.gz app.log.1 app.log
  nib view '/var/log/shop/*.log' /var/spool/shop
  kubectl logs -f deploy/shop | nib view
  nib view 'kafka://broker:9092/logs?since=-1h'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runView(cmd, args, port, open, keys)
		},
	}
	f := cmd.Flags()
	f.Uint16Var(&port, "port", 0, "`port` to serve the page on (default: any that is free)")
	f.StringVar(&keys, "keys", "", keysHelp)
	f.BoolVar(&open, "open", false, "open the page in the default browser")
	return cmd
}

func runView(
	cmd *cobra.Command, args []string, port uint16, open bool, keysFlag string,
) (err error) {
	keys, err := ownKeys(keysFlag)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if f, ok := cmd.InOrStdin().(*os.File); ok {
			if _, isTerminal := term.Terminal(f); isTerminal {
				return errors.New("view: no FILE is given, and standard input is a terminal")
			}
		}
		args = []string{"-"}
	}
	report := reporter(cmd.ErrOrStderr())
	s := logs.Selection{Zone: time.Local, Keys: keys}
	s.Report = func(format string, args ...any) { report("nib", format, args...) }
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	s.UseEvents(ctx)
	sources, later, err := findForView(args, cmd.InOrStdin(), &s)
	if err != nil {
		return err
	}
	path, name := sources[0].Path, strings.Join(args, " ")
	if len(later) > 0 || s.More != nil || path != args[0] {
		var remove func() error
		if path, remove, err = store(ctx, sources, later, s); err != nil {
			return err
		}
		defer func() { stop(); err = errors.Join(err, remove()) }()
	}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = filepath.Base(a)
	}
	v, err := view.Open(path, strings.Join(names, " "), keys, s.Report)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).
		Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return errors.Join(err, v.Close())
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is at\n  %s\nEnd with Ctrl-C.\n", term.Line(name), v.URL(l))
	if open {
		if err := openBrowser(ctx, v.URL(l)); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "nib: no browser could be started: %s\n",
				term.Line(err.Error()))
		}
	}
	return v.Run(ctx, l)
}

// findForView finds sources, and those that continue when the first have ended;
// s gets the ones that come under patterns and directories. A source that never
// ends must be the only one: merging it with others would wait for its next
// line. A plain file that is the only one is read in place, unless its lines
// have to be joined.
func findForView(
	args []string, stdin io.Reader, s *logs.Selection,
) (now, later []logs.Source, err error) {
	now, err = logs.Find(args, stdin, true, time.Now())
	isAlone := len(args) == 1 && len(now) == 1
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		isAlone = false // other spools may come
	}
	inPlace := isAlone && now[0].Path == args[0] && !logs.HasParts(args[0])
	if err == nil && len(now) > 0 && !inPlace && (!isAlone || !now[0].Live) {
		if now, err = logs.Find(args, stdin, false, time.Now()); err == nil {
			s.More = logs.Watch(args, now, *s)
			now, later, err = logs.Split(now, *s)
		}
	}
	if err == nil && len(now) == 0 {
		err = errors.New("view: there is nothing to read")
	}
	return now, later, err
}

// store copies the lines of sources to a temporary file, then the lines of
// later as they come, until ctx ends. It reports its errors.
func store(
	ctx context.Context, sources, later []logs.Source, s logs.Selection,
) (path string, remove func() error, err error) {
	raw, _, err := logs.Form{Output: "raw"}.NewRenderer()
	if err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp("", "nib-view-*.log")
	if err != nil {
		return "", nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := logs.Cat(ctx, f, sources, s, raw)
		if err != nil && ctx.Err() == nil {
			s.Report("%s", err)
		}
		if len(later) == 0 && s.More == nil {
			return
		}
		if _, err := logs.Follow(ctx, f, later, s, raw); err != nil && ctx.Err() == nil {
			s.Report("%s", err)
		}
	}()
	return f.Name(), func() error {
		select {
		case <-done:
		case <-time.After(time.Second): // standard input cannot be interrupted
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}, nil
}

// openBrowser opens an address in the default browser.
func openBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the browser reports its errors itself
	return nil
}
