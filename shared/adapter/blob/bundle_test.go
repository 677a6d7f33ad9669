package blob_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// randomBytes returns bytes that differ in every part.
func randomBytes(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func (e env) bundle() artifact.BundleObject {
	return artifact.BundleObject{Home: e.home, Artifact: id.NewArtifact(), Revision: id.NewRevision()}
}

// writeBundle stores an archive in small writes, as one is made.
func (e env) writeBundle(t *testing.T, o artifact.BundleObject, archive []byte) error {
	t.Helper()
	return e.WriteBundle(t.Context(), o, func(w io.Writer) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(archive)}, make([]byte, 70_001))
		return err
	})
}

// readBundle returns a part of an archive.
func (e env) readBundle(t *testing.T, o artifact.BundleObject, from, size int) ([]byte, error) {
	t.Helper()
	r, err := e.OpenBundle(t.Context(), o, int64(from), int64(size))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// openUploads counts multipart uploads of an archive that were neither completed nor aborted.
func (e env) openUploads(t *testing.T, o artifact.BundleObject) (n int) {
	t.Helper()
	prefix := "b/" + string(o.Home) + "/" + string(o.Artifact)
	out, err := e.client.ListMultipartUploads(t.Context(),
		&s3.ListMultipartUploadsInput{Bucket: &e.bucket, Prefix: &prefix})
	expect.OK(t, err)
	return len(out.Uploads)
}

func TestABundleIsReadBackAsItWasWritten(t *testing.T) {
	for name, c := range map[string]struct {
		size   int
		call   string
		called int
	}{
		"empty":          {0, "PutObject", 1},
		"small":          {1000, "PutObject", 1},
		"one full part":  {8 * limits.MiB, "PutObject", 1},
		"a byte more":    {8*limits.MiB + 1, "UploadPart", 2},
		"two full parts": {16 * limits.MiB, "UploadPart", 2},
		"three parts":    {20 * limits.MiB, "UploadPart", 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			o, archive := s.bundle(), randomBytes(c.size)
			calls := s.chaos.On(c.call).Always()
			for range 2 { // another attempt replaces it
				expect.OK(t, s.writeBundle(t, o, archive))
			}
			got, err := s.readBundle(t, o, 0, c.size)
			if err != nil || !bytes.Equal(got, archive) {
				t.Errorf("other bytes: %v", err)
			}
			if c.size > 10 {
				if got, err = s.readBundle(t, o, c.size-10, 10); err != nil || !bytes.Equal(got, archive[c.size-10:]) {
					t.Errorf("the end is %x: %v", got, err)
				}
			}
			if calls.Fired() != 2*c.called || s.openUploads(t, o) != 0 {
				t.Errorf("%d calls of %s, %d uploads open", calls.Fired(), c.call, s.openUploads(t, o))
			}
		})
	}
}

func TestF71ABundleThatIsNotFinishedIsNotThere(t *testing.T) {
	broken := errors.New("broken")
	t.Run("its files cannot be read", func(t *testing.T) {
		s := start(t)
		o, archive := s.bundle(), randomBytes(10*limits.MiB)
		err := s.WriteBundle(t.Context(), o, func(w io.Writer) error {
			expect.Value(w.Write(archive))(t)
			return broken
		})
		_, missing := s.readBundle(t, o, 0, 1)
		if !errors.Is(err, broken) || s.openUploads(t, o) != 0 {
			t.Errorf("%v, %d uploads open", err, s.openUploads(t, o))
		}
		expect.Code(t, missing, fault.NotFound)
	})
	for _, call := range []string{"CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "PutObject"} {
		t.Run(call+" fails", func(t *testing.T) {
			s := start(t)
			size := 10 * limits.MiB
			if call == "PutObject" {
				size = 1000
			}
			o, archive := s.bundle(), randomBytes(size)
			s.chaos.On(call).Times(3).Before(chaos.ServerError) // as often as the SDK tries
			expect.Code(t, s.writeBundle(t, o, archive), fault.StorageUnavailable)
			_, err := s.readBundle(t, o, 0, 1)
			expect.Code(t, err, fault.NotFound)
			if open := s.openUploads(t, o); open != 0 {
				t.Errorf("%d uploads are open", open)
			}
			if err := s.writeBundle(t, o, archive); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
		})
	}
}

func TestBundlesAreDeleted(t *testing.T) {
	s := start(t)
	kept, gone, never := s.bundle(), s.bundle(), s.bundle()
	for _, o := range []artifact.BundleObject{kept, gone} {
		expect.OK(t, s.writeBundle(t, o, []byte("archive")))
	}
	for range 2 {
		expect.OK(t, s.DeleteBundles(t.Context(), []artifact.BundleObject{gone, never}))
	}
	_, err := s.readBundle(t, gone, 0, 1)
	expect.Code(t, err, fault.NotFound)
	if got, err := s.readBundle(t, kept, 0, 7); err != nil || string(got) != "archive" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestABundleHasOneNameOnly(t *testing.T) {
	s := start(t)
	good := s.bundle()
	for name, o := range map[string]artifact.BundleObject{
		"home":     {Home: "../o", Artifact: good.Artifact, Revision: good.Revision},
		"artifact": {Home: good.Home, Artifact: "art_/", Revision: good.Revision},
		"revision": {Home: good.Home, Artifact: good.Artifact, Revision: ""},
	} {
		if err := s.writeBundle(t, o, nil); err == nil {
			t.Errorf("a wrong %s is written", name)
		}
		if _, err := s.readBundle(t, o, 0, 1); err == nil {
			t.Errorf("a wrong %s is read", name)
		}
		if err := s.DeleteBundles(t.Context(), []artifact.BundleObject{o}); err == nil {
			t.Errorf("a wrong %s is deleted", name)
		}
	}
}
