// SPDX-License-Identifier: Apache-2.0

package eventsend

import "github.com/nib-log/nib"

func order(log *nib.Logger, n int) {
	log.Info().Int("items", n).Msg("order placed")
	log.Info().Int("items", n) // want `the event is never written: end it with Msg or Send`
}
