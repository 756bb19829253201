// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"time"
)

// The values that are logged. They are package variables, so that the compiler
// cannot treat one library's argument as a constant and another's not, and all
// adapters read the same ones.
var (
	message = "request served"

	// The ten fields of a request line: three strings, int, int64, uint64,
	// bool, float64, duration, time.
	method  = "GET"
	path    = "/v1/accounts/7361/orders"
	request = "01J9Z5T8QXW3M7KD"
	status  = 200
	size    = int64(18342)
	trace   = uint64(17293822569102704642)
	cached  = true
	load    = 0.8731
	took    = 1834512 * time.Nanosecond
	started = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

	errRefused = errors.New("dial tcp 10.4.2.17:5432: connect: connection refused")

	format = "%s answered %d"

	shards = []int{3, 14, 15, 92, 65, 35, 89, 79, 323, 846}

	// Text outside of ASCII, as a service in East Asia logs it.
	messageUnicode = "注文を受け付けました 🎉"
	city           = "上海市浦东新区"
	customer       = "佐藤 花子さん"
	mood           = "🚀 très bien 👍🏽"

	// Text that must be escaped in JSON: quotes, newlines, backslashes,
	// tabs and control characters.
	messageEscapes = "parse error near \"limit\"\nexpected: number"
	conf           = `C:\srv\app\conf\"prod".ini`
	query          = "SELECT *\n\tFROM \"orders\"\n\tWHERE note = 'a\\b'"
	terminal       = "\x1b[31mfailed\x1b[0m\r\n"
)

// An account is the value that the two scenarios with a struct log.
type account struct {
	ID      int64    `json:"id"`
	Name    string   `json:"name"`
	Email   string   `json:"email"`
	Active  bool     `json:"active"`
	Balance float64  `json:"balance"`
	Tags    []string `json:"tags"`
	Plan    plan     `json:"plan"`
}

type plan struct {
	Name  string `json:"name"`
	Seats int    `json:"seats"`
}

var customerAccount = account{
	ID: 7361, Name: "Ada Byron", Email: "ada@example.org", Active: true, Balance: 1024.5,
	Tags: []string{"early", "annual"}, Plan: plan{Name: "team", Seats: 12},
}

// bufferSize is the size of the buffer of every library in the scenarios with a
// buffering writer.
const bufferSize = 64 << 10
