package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/shared/publishing/tree"
)

// mostKeys is how many objects one request deletes at most.
const mostKeys = 1000

// marker is a delete marker that hid a file of the restored set, or the absence of a file that was put.
type marker struct{ Key, Version string }

// homeOf returns the workspace below which a file lies.
func homeOf(key string) string { return strings.Split(key, "/")[1] }

// examine returns the delete markers that hide files which the restored set needs, and by key those whose bytes are in
// the bucket no more.
func (w *work) examine(ctx context.Context) (hidden []marker, lost map[string]tree.Content, err error) {
	needed, err := w.needed(ctx)
	if err != nil {
		return nil, nil, err
	}
	lost = map[string]tree.Content{}
	for home, files := range needed {
		histories, err := w.histories(ctx, home)
		if err != nil {
			return nil, nil, err
		}
		for key, f := range files {
			switch h, known := histories[key]; {
			case !known || h.size != f.Size:
				lost[key] = f
			case h.marker != "":
				hidden = append(hidden, marker{key, h.marker})
			}
		}
	}
	return hidden, lost, nil
}

// undelete takes delete markers away until none hides a file of the restored set, because they stack. The journal names
// each one before it goes, so that an abandoned restore can delete exactly these files again.
func (w *work) undelete(ctx context.Context) error {
	for {
		hidden, lost, err := w.examine(ctx)
		if err != nil {
			return err
		}
		if len(hidden) == 0 {
			w.sayf("  no delete marker hides what the set needs; %d of its files are in the bucket no more", len(lost))
			return nil
		}
		if err := w.note(hidden); err != nil {
			return err
		}
		var objects []types.ObjectIdentifier
		for _, m := range hidden {
			objects = append(objects, types.ObjectIdentifier{Key: aws.String(m.Key), VersionId: aws.String(m.Version)})
		}
		if err := w.deleteObjects(ctx, objects); err != nil {
			return err
		}
	}
}

// note adds markers to the journal, those that it has already once.
func (w *work) note(markers []marker) error {
	noted := map[marker]bool{}
	for _, m := range w.Markers {
		noted[m] = true
	}
	for _, m := range markers {
		if !noted[m] {
			w.Markers = append(w.Markers, m)
		}
	}
	return w.save()
}

// deleteAgain deletes the files from which a delete marker was taken, and those that were put, unless they are deleted
// anyway.
func (w *work) deleteAgain(ctx context.Context) error {
	keys := map[string]map[string]bool{} // by workspace
	for _, m := range w.Markers {
		home := homeOf(m.Key)
		if keys[home] == nil {
			keys[home] = map[string]bool{}
		}
		keys[home][m.Key] = true
	}
	for home, shown := range keys {
		histories, err := w.histories(ctx, home)
		if err != nil {
			return err
		}
		var objects []types.ObjectIdentifier
		for key := range shown {
			if h, known := histories[key]; known && h.marker == "" {
				objects = append(objects, types.ObjectIdentifier{Key: aws.String(key)})
			}
		}
		if err := w.deleteObjects(ctx, objects); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) deleteObjects(ctx context.Context, objects []types.ObjectIdentifier) error {
	for some := range slices.Chunk(objects, mostKeys) {
		out, err := w.objects().DeleteObjects(ctx, &s3.DeleteObjectsInput{
			Bucket: &w.Set.Bucket,
			Delete: &types.Delete{Objects: some, Quiet: aws.Bool(true)},
		})
		if err != nil {
			return err
		}
		if len(out.Errors) > 0 {
			first := out.Errors[0]
			return fmt.Errorf("S3 refuses %d of %d deletions, the first of %s: %s", len(out.Errors), len(some),
				aws.ToString(first.Key), aws.ToString(first.Message))
		}
	}
	return nil
}
