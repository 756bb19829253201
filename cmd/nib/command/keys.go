// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nib-log/nib/internal/logread"
)

// keysFile is the file that has the keys, on one line or several, if there is
// no --keys: in the current directory, or else in the home directory.
const keysFile = ".nibkeys"

const keysHelp = "the program's own `keys`, as in time=ts,level=severity,message=event " +
	"(default: the text of " + keysFile + " in this directory or the home)"

// ownKeys returns the keys that the flag or the file sets.
func ownKeys(flag string) (logread.Keys, error) {
	if flag != "" {
		k, err := logread.ParseKeys(flag)
		if err != nil {
			err = fmt.Errorf("--keys: %w", err)
		}
		return k, err
	}
	dirs := []string{"."}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, home)
	}
	for _, dir := range dirs {
		name := filepath.Join(dir, keysFile)
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || err != nil && dir != "." {
			continue // also if the home is another user's, or /dev/null
		}
		if err != nil {
			return logread.Keys{}, err
		}
		var lines []string
		for line := range strings.Lines(string(text)) {
			if line = strings.Trim(line, ", \t\r\n"); line != "" {
				lines = append(lines, line)
			}
		}
		k, err := logread.ParseKeys(strings.Join(lines, ","))
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return k, err
	}
	return logread.Keys{}, nil
}
