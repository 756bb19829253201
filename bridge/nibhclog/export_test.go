// SPDX-License-Identifier: Apache-2.0

package nibhclog

// LevelOf is for tests.
var LevelOf = levelOf
