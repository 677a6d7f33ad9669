package part

import (
	"context"
	"errors"
	"fmt"
	"io"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func (r Restore) bucket() objects.Bucket { return objects.Bucket{S3: r.To.S3, Name: r.To.Bucket} }

func bundleKey(o artifact.BundleObject) string {
	return fmt.Sprintf("b/%s/%s/%s.zip", o.Home, o.Artifact, o.Revision)
}

// bring brings back the objects of an artifact that are not there, and reads every one against its digest. It returns
// those that cannot be had.
func (r Restore) bring(ctx context.Context, p Plan) (missing []error, err error) {
	brought, bucket := 0, r.bucket()
	for _, f := range p.saved.Objects() {
		key, err := blob.Key(p.saved.Artifact.StorageWorkspace, f.Object)
		if err != nil {
			return nil, err
		}
		there, err := bucket.Has(ctx, key)
		if err != nil {
			return nil, err
		}
		if !there {
			brought++
			err = bucket.Undelete(ctx, key)
		}
		if errors.Is(err, objects.ErrGone) && r.Copy != nil {
			err = bucket.Put(ctx, key, f.SHA256, r.Copy)
		}
		if err == nil {
			err = r.verify(ctx, p.saved.Artifact.StorageWorkspace, f)
		}
		switch {
		case errors.Is(err, objects.ErrGone):
			missing = append(missing, fmt.Errorf("%s (%s): %w", f.Path, key, err))
		case err != nil:
			return nil, err
		}
	}
	r.say("%s: %d of %d files were brought back, all were read", p.Artifact, brought, p.Files)
	return missing, nil
}

// verify reads an object and compares its bytes with the digest of its file. Other bytes count as gone.
func (r Restore) verify(ctx context.Context, home id.Workspace, f tree.File) error {
	size, err := r.blobs().Head(ctx, home, f.Object)
	if fault.CodeOf(err) == fault.NotFound || err == nil && size != f.Size {
		return objects.ErrGone
	}
	if err != nil {
		return err
	}
	body, err := r.blobs().Open(ctx, home, f.Object, 0, f.Size)
	if err != nil {
		return err
	}
	defer body.Close()
	read := &observed{from: body}
	if err := f.Copy(io.Discard, read); err != nil && read.failed == nil {
		return fmt.Errorf("%w: the object holds other bytes", objects.ErrGone)
	}
	return read.failed
}

// observed keeps the error of a reader, to tell bytes that cannot be read now from bytes that are wrong.
type observed struct {
	from   io.Reader
	failed error
}

// Read implements io.Reader.
func (o *observed) Read(b []byte) (int, error) {
	n, err := o.from.Read(b)
	if err != nil && err != io.EOF {
		o.failed = err
	}
	return n, err
}
