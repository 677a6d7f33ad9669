package blob_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/tree"
)

// write stores bytes that the service itself produced.
func (s env) write(t *testing.T, entry int, body string) error {
	t.Helper()
	return s.Put(t.Context(), s.home, s.object(entry), []byte(body), tree.DigestOf(body))
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
