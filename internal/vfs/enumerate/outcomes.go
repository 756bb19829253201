// SPDX-License-Identifier: Apache-2.0

package enumerate

import (
	"errors"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

// An Outcome is what a call returns instead of success.
type Outcome struct {
	Name string // in the name of the case
	Err  error
	Half bool // after half of the bytes
	Done bool // after everything
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

	// The answer of a network file system was lost.
	done = Outcome{Name: "done-EIO", Err: syscall.EIO, Done: true}
)

// half is an error after half of the bytes.
func half(o Outcome) Outcome {
	o.Name, o.Half = "half-"+o.Name, true
	return o
}

// outcomes are what each operation can return: on local disks, over quota, with
// the descriptors of the process or the system exhausted, on network file systems.
var outcomes = map[vfs.Op][]Outcome{
	vfs.OpOpen:        {eio, emfile, enfile, enomem, estale, eintr, eacces},
	vfs.OpCreate:      {eio, emfile, enfile, enomem, enospc, edquot, estale, eintr, eacces, erofs, done},
	vfs.OpLstat:       {eio, enomem, estale, eacces},
	vfs.OpRename:      {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfs.OpLink:        {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfs.OpRemove:      {eio, enomem, estale, eacces, erofs, done},
	vfs.OpMkdir:       {eio, enomem, enospc, edquot, estale, eacces, erofs, done},
	vfs.OpReadDir:     {eio, emfile, enfile, enomem, estale, eacces},
	vfs.OpSyncDir:     {eio, emfile, enfile, enomem, enospc, estale, eacces},
	vfs.OpWrite:       {eio, enomem, enospc, edquot, estale, eintr, half(eio), half(enospc), done},
	vfs.OpRead:        {eio, enomem, estale, half(eio)},
	vfs.OpSync:        {eio, enospc, edquot, estale, done},
	vfs.OpTruncate:    {eio, enospc, estale, eacces},
	vfs.OpPreallocate: {eio, enospc, edquot, eintr},
	vfs.OpStat:        {eio, enomem, estale},
	vfs.OpFree:        {eio, estale},
	vfs.OpLock:        {eio, emfile, enfile, enomem, estale, eintr, eacces, locked},
	vfs.OpClose:       {eio, enospc, edquot, estale, eintr},
}

// canReturn reports whether an operation can return an error.
func canReturn(op vfs.Op, err error) bool {
	return slices.ContainsFunc(outcomes[op], func(o Outcome) bool { return errors.Is(o.Err, err) })
}
