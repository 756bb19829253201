// SPDX-License-Identifier: Apache-2.0

package enumerate

import (
	"errors"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// An Outcome is the result of a call that does not succeed.
type Outcome struct {
	Name string // name in the name of the case
	Err  error
	Half bool // the fault occurs after half of the bytes
	Done bool // the fault occurs after all bytes
}

func plain(name string, errno syscall.Errno) Outcome { return Outcome{Name: name, Err: errno} }

var (
	eio    = plain("EIO", syscall.EIO)
	emfile = plain("EMFILE", syscall.EMFILE)
	enfile = plain("ENFILE", syscall.ENFILE)
	enomem = plain("ENOMEM", syscall.ENOMEM)
	enospc = plain("ENOSPC", syscall.ENOSPC)
	edquot = plain("EDQUOT", syscall.EDQUOT)
	estale = plain("ESTALE", syscall.ESTALE)
	eintr  = plain("EINTR", syscall.EINTR)
	eacces = plain("EACCES", syscall.EACCES)
	erofs  = plain("EROFS", syscall.EROFS)
	locked = Outcome{Name: "locked", Err: vfs.ErrLocked}

	unsupported = Outcome{Name: "unsupported", Err: errors.ErrUnsupported}

	// The response of a network file system was lost.
	done = Outcome{Name: "done-EIO", Err: syscall.EIO, Done: true}
)

// half is an error after half of the bytes.
func half(o Outcome) Outcome {
	o.Name, o.Half = "half-"+o.Name, true
	return o
}

// outcomes lists the possible results of each operation: on local disks, over
// quota, with the descriptors of the process or the system exhausted, on
// network file systems.
var outcomes = map[vfstest.Op][]Outcome{
	vfstest.OpOpen: {eio, emfile, enfile, enomem, estale, eintr, eacces},
	vfstest.OpCreate: {eio, emfile, enfile, enomem, enospc, edquot, estale, eintr, eacces,
		erofs, done},
	vfstest.OpLstat:     {eio, enomem, estale, eacces},
	vfstest.OpRename:    {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfstest.OpNoReplace: {eio, enomem, enospc, edquot, estale, eacces, erofs, done, unsupported},
	vfstest.OpLink:      {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfstest.OpRemove:    {eio, enomem, estale, eacces, erofs, done},
	vfstest.OpMkdir:     {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfstest.OpReadDir:   {eio, emfile, enfile, enomem, estale, eacces},
	vfstest.OpSyncDir:   {eio, emfile, enfile, enomem, enospc, estale, eacces},
	vfstest.OpWrite: {eio, enomem, enospc, edquot, estale, eintr, half(eio), half(enospc),
		done},
	vfstest.OpRead:        {eio, enomem, estale, half(eio)},
	vfstest.OpSync:        {eio, enospc, edquot, estale, done},
	vfstest.OpTruncate:    {eio, enospc, estale, eacces},
	vfstest.OpRights:      {eio, estale, eacces, erofs},
	vfstest.OpPreallocate: {eio, enospc, edquot, eintr},
	vfstest.OpStat:        {eio, enomem, estale},
	vfstest.OpFree:        {eio, estale},
	vfstest.OpLock:        {eio, emfile, enfile, enomem, estale, eintr, eacces, locked},
	vfstest.OpClose:       {eio, enospc, edquot, estale, eintr},
}

// canReturn reports whether an operation can return an error.
func canReturn(op vfstest.Op, err error) bool {
	return slices.ContainsFunc(outcomes[op], func(o Outcome) bool { return errors.Is(o.Err, err) })
}
