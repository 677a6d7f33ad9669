package blob_test

import (
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// listed returns the keys of all archives of a workspace's exports.
func (e env) listed(t *testing.T, w id.Workspace) (keys []string) {
	t.Helper()
	prefix := "x/" + string(w) + "/"
	out, err := e.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &e.bucket, Prefix: &prefix})
	expect.OK(t, err)
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	return keys
}

func TestAnArchiveOfAnExportLiesUnderItsWorkspace(t *testing.T) {
	s := start(t)
	o := export.Object{Workspace: id.NewWorkspace(), Export: id.NewExport(), Volume: 12}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "zip"); return err }
	expect.OK(t, s.WriteExport(t.Context(), o, write))
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

// TestAnArchiveOfAnExportIsStoredAndDeleted is about its name; archives of all kinds are written and read alike.
func TestAnArchiveOfAnExportIsStoredAndDeleted(t *testing.T) {
	s := start(t)
	o := export.Object{Workspace: id.NewWorkspace(), Export: id.NewExport(), Volume: 1}
	missing := o
	missing.Volume = 2
	write := func(w io.Writer) error { _, err := io.WriteString(w, "large"); return err }
	expect.OK(t, s.WriteExport(t.Context(), o, write))
	r := expect.Value(s.OpenExport(t.Context(), o, 1, 4))(t)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "arge" {
		t.Errorf("%q, %v", got, err)
	}
	expect.OK(t, s.DeleteExports(t.Context(), []export.Object{o, missing}))
	if _, err := s.OpenExport(t.Context(), o, 0, 1); fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("it is still there: %v", err)
	}
	err := s.DeleteExports(t.Context(), []export.Object{{}})
	if err == nil || !strings.Contains(err.Error(), "no archive") {
		t.Errorf("an object without a name: %v", err)
	}
}
