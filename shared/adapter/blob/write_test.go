package blob_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// write stores bytes that the service itself produced.
func (e env) write(t *testing.T, entry int, body string) error {
	t.Helper()
	return e.Put(t.Context(), e.home, e.object(entry), []byte(body), tree.DigestOf(body))
}

func TestAnObjectOfOursIsWrittenOnce(t *testing.T) {
	t.Run("the same bytes again are no failure", func(t *testing.T) {
		s := start(t)
		for range 3 {
			expect.OK(t, s.write(t, 0, "the result of a diff"))
		}
		s.wantBytes(t, 0, []byte("the result of a diff"))
	})
	t.Run("other bytes are refused and change nothing", func(t *testing.T) {
		s := start(t)
		s.store(t, 0, []byte("what a client put"))
		err := s.write(t, 0, "the result of a diff")
		expect.Code(t, err, fault.StorageUnavailable)
		if err == nil || !strings.Contains(err.Error(), "other bytes") {
			t.Errorf("the log says %v", err)
		}
		s.wantBytes(t, 0, []byte("what a client put"))
	})
	t.Run("bytes of another digest are not stored", func(t *testing.T) {
		s := start(t)
		expect.Code(t, s.Put(t.Context(), s.home, s.object(0), []byte("bytes"), tree.DigestOf("others")),
			fault.StorageUnavailable)
		s.wantNothing(t, 0)
	})
}

// TestAWriteWhoseAnswerIsLostIsRepeated lets S3 store the bytes without an answer, so that the SDK
// sends them again.
func TestAWriteWhoseAnswerIsLostIsRepeated(t *testing.T) {
	s := start(t)
	lost := s.chaos.On("PutObject").After(chaos.ServerError)
	heads := s.chaos.On("HeadObject").Always()
	if err := s.write(t, 0, "stored"); err != nil || lost.Fired() != 1 || heads.Fired() != 1 {
		t.Errorf("%v; %d answers were lost, %d objects looked at", err, lost.Fired(), heads.Fired())
	}
	s.wantBytes(t, 0, []byte("stored"))
}

func TestAWriteThatMeetsAnotherIsRepeated(t *testing.T) {
	s := start(t)
	met := s.chaos.On("PutObject").Before(chaos.Fail(&smithy.GenericAPIError{Code: "ConditionalRequestConflict"}))
	if err := s.write(t, 0, "stored"); err != nil || met.Fired() != 1 {
		t.Errorf("%v; met %d", err, met.Fired())
	}
}

// TestWhatLiesThereAlreadyIsNotTakenOnTrust fails whenever the existing bytes cannot be compared.
func TestWhatLiesThereAlreadyIsNotTakenOnTrust(t *testing.T) {
	for name, action := range map[string]chaos.Action{
		"S3 does not answer": chaos.ServerError,
		"it is gone":         chaos.Fail(&smithy.GenericAPIError{Code: "NotFound"}),
		"it has no digest": func(_ context.Context, c *chaos.Call) error {
			c.Output.(*s3.HeadObjectOutput).ChecksumSHA256 = nil
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			expect.OK(t, s.write(t, 0, "stored"))
			s.chaos.On("HeadObject").Times(3).After(action)
			expect.Code(t, s.write(t, 0, "stored"), fault.StorageUnavailable)
			s.chaos.Clear()
		})
	}
}

// inHome maps objects to one workspace.
func inHome(home id.Workspace, objects []tree.Object) map[id.Workspace][]tree.Object {
	return map[id.Workspace][]tree.Object{home: objects}
}

func TestDeleteRemovesWhatItNames(t *testing.T) {
	s := start(t)
	for i := range 3 {
		s.store(t, i, []byte("bytes"))
	}
	objects := []tree.Object{s.object(0), s.object(2), s.object(9)} // the last never was
	for range 2 {
		expect.OK(t, s.DeleteAll(t.Context(), inHome(s.home, objects)))
	}
	s.wantNothing(t, 0)
	s.wantBytes(t, 1, []byte("bytes"))
	s.wantNothing(t, 2)
	if err := s.DeleteAll(t.Context(), inHome(s.home, nil)); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

func TestDeleteAsksForAThousandAtATime(t *testing.T) {
	s := start(t)
	calls := s.chaos.On("DeleteObjects").Always()
	objects := []tree.Object{{Session: id.NewSession()}}
	for i := range 1000 {
		objects = append(objects, s.object(i))
	}
	s.store(t, 999, []byte("the last"))
	if err := s.DeleteAll(t.Context(), inHome(s.home, objects)); err != nil || calls.Fired() != 2 {
		t.Errorf("%v after %d calls", err, calls.Fired())
	}
	s.wantNothing(t, 999)
}

func TestDeleteSessionRemovesStrangersToo(t *testing.T) {
	s := start(t, inPagesOf(2))
	for i := range 3 {
		s.store(t, i, []byte("bytes"))
	}
	s.stray(t, "stranger")
	neighbour := s
	neighbour.session = id.NewSession()
	neighbour.store(t, 0, []byte("bytes"))
	expect.OK(t, s.DeleteSession(t.Context(), s.home, s.session))
	if sizes, err := s.List(t.Context(), s.home, s.session, false); err != nil || len(sizes) != 0 {
		t.Errorf("left are %v, %v", sizes, err)
	}
	neighbour.wantBytes(t, 0, []byte("bytes"))
}

func TestF42ObjectsThatS3RefusesToDeleteAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refuse int
		code   fault.Code
	}{"for a while": {2, ""}, "for good": {3, fault.StorageUnavailable}} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			var asked []int
			s.chaos.On("DeleteObjects").Times(c.refuse).After(func(_ context.Context, call *chaos.Call) error {
				objects := call.Input.(*s3.DeleteObjectsInput).Delete.Objects
				asked = append(asked, len(objects))
				call.Output.(*s3.DeleteObjectsOutput).Errors = []types.Error{
					{Key: objects[0].Key, Code: aws.String("InternalError")},
				}
				return nil
			})
			err := s.DeleteAll(t.Context(), inHome(s.home, []tree.Object{s.object(0), s.object(1), s.object(2)}))
			expect.Code(t, err, c.code)
			if asked[0] != 3 || asked[1] != 1 {
				t.Errorf("asked for %v objects", asked)
			}
		})
	}
}

func TestDeleteReportsThatS3DoesNotAnswer(t *testing.T) {
	s := start(t)
	s.chaos.On("DeleteObjects").Times(3).Before(chaos.ServerError)
	expect.Code(t, s.DeleteAll(t.Context(), inHome(s.home, []tree.Object{s.object(0)})), fault.StorageUnavailable)
	s.chaos.On("ListObjectsV2").Times(3).Before(chaos.ServerError)
	expect.Code(t, s.DeleteSession(t.Context(), s.home, s.session), fault.StorageUnavailable)
}
