package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/tree"
)

// zipping writes the zip of a revision that has none at the server: the same bytes that the server would write. It first
// collects the files beside the zip, and each of them once.
type zipping struct {
	*app
	from   *client.Deployment
	staged save.Staging

	progress *screen.Progress
}

// assemble writes the zip of a revision to a part.
func (w *bundleWait) assemble(
	ctx context.Context,
	d *client.Deployment,
	of id.Revision,
	to *save.Part,
) (v contract.AgentView, made client.Archive, err error) {
	if v, err = w.see.whole(ctx, of); err != nil {
		return v, made, err
	}
	at, err := w.see.published(ctx, v)
	if err != nil {
		return v, made, err
	}
	files, err := treeOf(v)
	if err != nil {
		return v, made, err
	}
	z := zipping{app: w.app, from: d}
	if z.staged, err = to.Stage(); err != nil {
		return v, made, err
	}
	defer z.staged.RemoveEmpty()
	if err := z.collectAll(ctx, w.see, v); err != nil {
		return v, made, z.continuable(err, v)
	}
	if made, err = z.write(files, v.Entrypoint, at, to); err != nil {
		to.Discard()
		return v, made, err
	}
	z.staged.Remove()
	return v, made, nil
}

// treeOf returns the files of a view, each of which must have a digest.
func treeOf(v contract.AgentView) (files tree.Tree, err error) {
	for _, f := range v.Files {
		sum, ok := tree.ParseDigest(f.SHA256)
		if !ok {
			return nil, failure.New(failure.Other, failure.BadResponse, "the server does not state the SHA-256 of %q", f.Path).
				Advise("Fetch single files: %s", pullHint(v))
		}
		files = append(files, tree.File{Path: f.Path, Size: f.SizeBytes, SHA256: sum})
	}
	return files, nil
}

// collectAll fetches the files that are not there yet. It replaces URLs that expire meanwhile.
func (z *zipping) collectAll(ctx context.Context, see viewer, v contract.AgentView) error {
	_, size := totals(v)
	z.progress = z.screen.Download(size)
	defer z.progress.Stop()
	for try := 1; ; try++ {
		z.progress.Done(0)
		err := z.collect(ctx, v)
		if err == nil || try == maxBundleURLs || !hasEnded(err) {
			return err
		}
		if v, err = see.whole(ctx, v.RevisionID); err != nil {
			return err
		}
	}
}

// collect fetches small files several at a time, and large ones one after the other, because each is several answers
// at a time itself.
func (z *zipping) collect(ctx context.Context, v contract.AgentView) error {
	var large []contract.AgentViewFile
	seen := map[string]bool{}
	group, within := async.WithContext(ctx)
	group.SetLimit(client.Parallel)
	for _, f := range v.Files {
		switch {
		case seen[f.SHA256], z.staged.Has(f.SHA256, f.SizeBytes):
			z.progress.Sent(f.SizeBytes)
		case client.IsLarge(f.SizeBytes):
			large = append(large, f)
		default:
			group.Go(func() error { return z.fetch(within, f) })
		}
		seen[f.SHA256] = true
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, f := range large {
		if err := z.fetch(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// fetch stores one file under its digest.
func (z *zipping) fetch(ctx context.Context, f contract.AgentViewFile) error {
	to, err := save.To(z.staged.Name(f.SHA256), true)
	if err != nil {
		return err
	}
	defer to.Discard()
	shown := &shownWriter{progress: z.progress}
	err = z.from.Download(ctx, f, func() (io.Writer, error) {
		shown.restart()
		shown.Writer, err = to.Start()
		return shown, err
	})
	if err != nil {
		shown.restart()
		return err
	}
	return to.Keep()
}

// shownWriter shows what is written in a progress.
type shownWriter struct {
	io.Writer
	progress *screen.Progress
	written  int64
}

func (s *shownWriter) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.written += int64(n)
	s.progress.Sent(int64(n))
	return n, err
}

// restart takes the bytes of a failed attempt back.
func (s *shownWriter) restart() {
	s.progress.Sent(-s.written)
	s.written = 0
}

// continuable adds to a failure that another run needs only the files that have not arrived.
func (z *zipping) continuable(err error, v contract.AgentView) error {
	f, there := *failure.Of(err), 0
	for _, file := range v.Files {
		if z.staged.Has(file.SHA256, file.SizeBytes) {
			there++
		}
	}
	if there == 0 || f.Exit != failure.Server && f.Exit != failure.Interrupted {
		return err
	}
	if f.Exit == failure.Interrupted {
		f.Message = "interrupted before the files were complete"
	}
	f.Hint = "Run the command again: it continues after the " + screen.Count(there, "file") + " that have arrived."
	return &f
}

// write writes the zip. It checks the digest of each file again.
func (z *zipping) write(
	files tree.Tree, entrypoint string, at time.Time, to *save.Part,
) (made client.Archive, err error) {
	if err := to.Begin(""); err != nil {
		return made, err
	}
	sum, out := sha256.New(), io.NewOffsetWriter(to, 0)
	err = archive.Write(io.MultiWriter(out, sum), files, entrypoint, at, func(f tree.File) (archive.Body, error) {
		return archive.Stream(f.Size, func(w io.Writer) error { return z.copy(w, f) })
	})
	made.Size, _ = to.Kept()
	made.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return made, err
}

func (z *zipping) copy(w io.Writer, f tree.File) error {
	name := z.staged.Name(f.SHA256.String())
	file, err := os.Open(name)
	if err == nil {
		defer file.Close()
		err = f.Copy(w, file)
	}
	if err != nil {
		return failure.New(failure.Other, failure.Unsavable, "%s changed or cannot be read: %v", name, err).
			Advise("Remove it, and run the command again.")
	}
	return nil
}
