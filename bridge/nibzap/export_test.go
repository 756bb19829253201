// SPDX-License-Identifier: Apache-2.0

package nibzap

// LevelOf is for tests.
var LevelOf = levelOf
