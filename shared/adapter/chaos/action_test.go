package chaos_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

func TestTheBodyOfAnObjectEndsEarly(t *testing.T) {
	inj := chaos.For(t)
	client, bucket := newObjects(t, inj)
	object := aws.String("o/cut")
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &bucket,
		Key:    object,
		Body:   strings.NewReader("0123456789"),
	})
	expect.OK(t, err)
	inj.On("GetObject").Nth(1).After(chaos.Cut(4))
	inj.On("GetObject").Nth(2).After(chaos.Break(0))
	inj.On("GetObject").Nth(3).After(chaos.Cut(100))
	inj.On("GetObject").Nth(4).After(chaos.Timeout)
	for _, want := range []struct {
		body string
		err  error
	}{{"0123", nil}, {"", syscall.ECONNRESET}, {"0123456789", nil}, {"0123456789", nil}} {
		out := expect.Value(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: object}))(t)
		body, err := io.ReadAll(out.Body)
		if string(body) != want.body || !errors.Is(err, want.err) {
			t.Errorf("read %q, %v; want %q, %v", body, err, want.body, want.err)
		}
		out.Body.Close()
	}
}

func TestOnlyAGetObjectHasABodyToCut(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	inj.On("PutItem").After(chaos.Cut(1))
	if err := d.put(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "chaos: only") {
		t.Errorf("error %v", err)
	}
}

func TestS3FailsAsS3Does(t *testing.T) {
	inj := chaos.For(t)
	client, bucket := newObjects(t, inj)
	list := &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("o/none")}
	inj.Clear()
	for code, action := range map[string]chaos.Action{"SlowDown": chaos.Throttle, "InternalError": chaos.ServerError} {
		rule := inj.On("ListObjectsV2").Service("S3").Always().Before(action)
		if _, err := client.ListObjectsV2(t.Context(), list); codeOf(err) != code || rule.Fired() != 3 {
			t.Errorf("error %v after %d attempts", err, rule.Fired())
		}
		inj.Clear()
	}
}

func TestADelayedCallWaitsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := chaos.Delay(time.Second)(t.Context(), nil); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestNetworkErrorsCarryATraceableURL(t *testing.T) {
	// A test that looks for this text catches code that logs or answers such an error unredacted.
	if err := chaos.Timeout(t.Context(), nil); !strings.Contains(err.Error(), "X-Amz-Signature=chaos") {
		t.Errorf("error %v", err)
	}
}
