// SPDX-License-Identifier: Apache-2.0

package spool

// peers are the other spools that share the disk space and the destinations of
// a Sink.
type peers interface {
	// limit returns the maximum size of all segments of the Sink: Config.Size,
	// less what peers use.
	limit() (bytes int64, err error)

	// requestDrop asks a peer to drop its oldest segment, and reports whether
	// there is one; isDropping reports whether a peer drops one. The lock of
	// the Sink is held.
	requestDrop() bool
	isDropping() bool

	// dropped is called when the Sink has dropped a segment for a call that
	// waits, with its size, and with 0 when it will drop no more.
	dropped(bytes int64)

	addStats(*Stats)

	// close begins to close the peers, and returns a channel that is closed when
	// that is done.
	close() <-chan struct{}

	// beforeUnlock is called when the directory of the Sink is going to be
	// unlocked, at the end and if Open fails.
	beforeUnlock()
}

// alone is the maximum size of a Sink without peers.
type alone int64

func (size alone) limit() (int64, error) { return int64(size), nil }
func (alone) requestDrop() bool          { return false }
func (alone) isDropping() bool           { return false }
func (alone) dropped(int64)              {}
func (alone) addStats(*Stats)            {}
func (alone) close() <-chan struct{}     { return closed }
func (alone) beforeUnlock()              {}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
