// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package journald

import "errors"

func openPort(string) (port, error) {
	return nil, errors.New("nib/journald: journald requires Linux")
}
