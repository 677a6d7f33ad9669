package sweep

import (
	"context"
	"io"

	"golang.org/x/sync/semaphore"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/tree"
)

const (
	aheadReads   = 16             // files that are read at once
	maxAhead     = 32 << 20       // bytes of files that a function reads ahead
	maxAheadFile = 8 * limits.MiB // larger files are streamed
)

// opener opens the object of a file that has bytes.
type opener func(context.Context, tree.File) (io.ReadCloser, error)

// ahead reads up to maxAhead bytes of files before the caller asks for them. Files above maxAheadFile are never held in
// memory: each is read twice, when its turn comes.
type ahead struct {
	ctx   context.Context
	open  opener
	files chan *async.Future[readResult] // those that are read ahead, in order
	room  *semaphore.Weighted
	held  int64 // room of the file that next returned last
	stop  context.CancelFunc
}

type readResult struct {
	bytes []byte
	room  int64
}

// readAhead begins to read files. The caller calls next once for each file, in the same order, and then stop.
func readAhead(ctx context.Context, files []tree.File, open opener) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{
		ctx:   ctx,
		open:  open,
		files: make(chan *async.Future[readResult], len(files)),
		room:  semaphore.NewWeighted(maxAhead),
		stop:  cancel,
	}
	async.Start(func() error {
		for _, f := range files {
			if f.Size > maxAheadFile {
				continue
			}
			room := max(f.Size, maxAhead/aheadReads) // which bounds how many small files are read at once
			failed := a.room.Acquire(ctx, room)
			a.files <- async.Go(func() (readResult, error) {
				if failed != nil { // passed on, because next would wait forever otherwise
					return readResult{}, failed
				}
				b, err := a.read(f)
				return readResult{bytes: b, room: room}, err
			})
			if failed != nil {
				return failed
			}
		}
		return nil
	})
	return a
}

// next returns the bytes of the next file. The following call releases their room.
func (a *ahead) next(f tree.File) (archive.Body, error) {
	a.room.Release(a.held)
	a.held = 0
	if f.Size > maxAheadFile {
		return archive.Stream(f.Size, func(w io.Writer) error { return a.copy(w, f) })
	}
	got, err := (<-a.files).Wait()
	a.held = got.room
	return archive.Bytes(got.bytes), err
}

// read returns the bytes of a file, which it checks against its digest.
func (a *ahead) read(f tree.File) ([]byte, error) {
	if f.Size == 0 {
		return nil, nil
	}
	body, err := a.open(a.ctx, f)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return f.ReadBytes(body)
}

// copy writes the bytes of a file to w and checks them.
func (a *ahead) copy(w io.Writer, f tree.File) error {
	body, err := a.open(a.ctx, f)
	if err != nil {
		return err
	}
	defer body.Close()
	return f.Copy(w, body)
}
