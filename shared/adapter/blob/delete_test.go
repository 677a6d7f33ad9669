package blob_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

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
