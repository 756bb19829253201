// SPDX-License-Identifier: Apache-2.0

// Package nibhclog implements github.com/hashicorp/go-hclog with nib, the API
// of HashiCorp's libraries: raft, memberlist, go-plugin, the clients of Consul
// and Vault.
//
//	func main() {
//		rules, err := nib.ParseRules("info,raft=debug")
//		if err != nil {
//			panic(err)
//		}
//		log := nibhclog.New(nib.New(os.Stdout, nib.WithRules(rules), nib.WithCaller()))
//
//		log.Info("started", "node", "n1")
//		raft := log.Named("raft").With("term", 3)
//		raft.Debug("vote granted", "from", "n2")
//		raft.StandardLogger(nil).Print("a line of package log")
//	}
//
// [nib.Rules] match the names, joined by dots. SetLevel replaces the level of
// the [nib.Logger] for the logger and all that share its origin, as in hclog;
// SetLevel(hclog.NoLevel) returns to the level of the nib.Logger. trace to
// error have the same names in both.
//
// The hosts of plugins made with go-plugin read the standard error of their
// plugins, in hclog's JSON format. With [Layout] a plugin writes that:
//
//	log := nibhclog.New(nib.New(os.Stderr, nib.WithLayout(nibhclog.Layout())))
//
// # Differences from hclog's JSON output
//
// Keys are in the order of the call, after the sorted keys of With; hclog sorts
// all. Of equal keys among the arguments of one call, or of With and a call,
// all are written, unless the nib.Logger has nib.WithDuplicateKeys. A field
// whose key is one of the layout's is written as "field." and the key; in hclog
// it replaces that one.
//
// Arguments of With are encoded once, by With and Named; hclog encodes them for
// each line, with the values that they have then.
//
// A value that encoding/json refuses is "!ERROR: …", and one whose method
// panics "!PANIC: …". hclog leaves out all fields of a line with a value that
// cannot be encoded, or the line itself; with a method that panics, the caller
// panics.
//
// A key that is not a string is formatted with %s if it is a number, text or
// boolean; otherwise its type is the key. In hclog With panics for such keys.
//
// Other values are written as [nib.Event.Any] does, times and durations in the
// formats of the layout, and HTML characters are not escaped.
package nibhclog
