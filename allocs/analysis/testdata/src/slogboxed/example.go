// SPDX-License-Identifier: Apache-2.0

package slogboxed

import "log/slog"

func order(log *slog.Logger, name string, items int) {
	log.Debug("order placed", "name", name, "items", items) // want `arguments of Debug are boxed before the level is looked at; LogAttrs boxes nothing`
}
