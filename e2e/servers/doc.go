// SPDX-License-Identifier: Apache-2.0

// Package servers starts real servers for tests, each in its own directory and
// at its own ports.
package servers
