// SPDX-License-Identifier: Apache-2.0

// Package servers starts real servers for tests, each in a directory and at ports of
// its own.
package servers
