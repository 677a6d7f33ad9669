package blob_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// listed returns the keys of all archives of a workspace's exports.
func (s env) listed(t *testing.T, w id.Workspace) (keys []string) {
	t.Helper()
	prefix := "x/" + string(w) + "/"
	out, err := s.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	return keys
}

func TestAnArchiveOfAnExportLiesUnderItsWorkspace(t *testing.T) {
	s := start(t)
	o := export.Object{Workspace: id.NewWorkspace(), Export: id.NewExport(), Volume: 12}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "zip"); return err }
	if err := s.WriteExport(t.Context(), o, write); err != nil {
		t.Fatal(err)
	}
	if got := s.listed(t, o.Workspace); len(got) != 1 ||
		got[0] != "x/"+string(o.Workspace)+"/"+string(o.Export)+"/0012.zip" {
		t.Error(got)
	}
	for name, bad := range map[string]export.Object{
		"no workspace":          {Workspace: "../x", Export: o.Export, Volume: 1},
		"no export":             {Workspace: o.Workspace, Export: "exp_../", Volume: 1},
		"no archive":            {Workspace: o.Workspace, Export: o.Export},
		"an archive beyond all": {Workspace: o.Workspace, Export: o.Export, Volume: limits.ExportVolumes + 2},
	} {
		if err := s.WriteExport(t.Context(), bad, write); err == nil {
			t.Errorf("%s: it is stored", name)
		}
	}
}

func TestAnArchiveOfAnExportIsStoredAsAWholeAndDeleted(t *testing.T) {
	s := start(t)
	o := export.Object{Workspace: id.NewWorkspace(), Export: id.NewExport(), Volume: 1}
	large := bytes.Repeat([]byte("large"), 9*limits.MiB/5)
	broken := errors.New("broken")
	err := s.WriteExport(t.Context(), o, func(w io.Writer) error {
		if _, err := w.Write(large); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := s.OpenExport(t.Context(), o, 0, 1); fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("half an archive is there: %v", err)
	}
	for _, body := range [][]byte{large, []byte("small")} { // the second replaces the first
		err := s.WriteExport(t.Context(), o, func(w io.Writer) error { _, err := w.Write(body); return err })
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.OpenExport(t.Context(), o, 1, int64(len(body)-1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if r.Close(); err != nil || !bytes.Equal(got, body[1:]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	missing := o
	missing.Volume = 2
	if err := s.DeleteExports(t.Context(), []export.Object{o, missing}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenExport(t.Context(), o, 0, 1); fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("it is still there: %v", err)
	}
	if err := s.DeleteExports(t.Context(), []export.Object{{}}); err == nil ||
		!strings.Contains(err.Error(), "no archive") {
		t.Errorf("an object without a name: %v", err)
	}
}
