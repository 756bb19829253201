// SPDX-License-Identifier: Apache-2.0

package eventreuse

import "github.com/nib-log/nib"

func request(log *nib.Logger, status int) {
	e := log.Info().Int("status", status)
	e.Msg("request served")
	if status >= 500 {
		e.Msg("request failed") // want `e is used after it was written: it is back in its pool`
	}
}
