package meter_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/meter"
)

func TestAContextWithoutCountsIsLeftAlone(t *testing.T) {
	var bodies []string
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		bodies = append(bodies, read(r))
		fmt.Fprint(w, `{}`)
	})
	get(t, t.Context(), client)
	if len(bodies) != 1 || strings.Contains(bodies[0], "ReturnConsumedCapacity") {
		t.Errorf("sent %q", bodies)
	}
}

func TestRoundTripsAreCallsThatDoNotOverlap(t *testing.T) {
	for name, c := range map[string]struct{ together, trips int }{
		"one after another": {1, 6},
		"two at a time":     {2, 3},
		"all at once":       {6, 1},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, all := 0, sync.NewCond(new(sync.Mutex))
			client := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
				all.L.Lock()
				defer all.L.Unlock()
				group := arrived / c.together
				arrived++
				for all.Broadcast(); arrived < (group+1)*c.together; {
					all.Wait() // until the whole group is under way
				}
				fmt.Fprint(w, `{}`)
			})
			ctx, counts := meter.With(t.Context())
			for range 6 / c.together {
				var group sync.WaitGroup
				for range c.together {
					group.Go(func() { get(t, ctx, client) })
				}
				group.Wait()
			}
			if counts.RoundTrips() != c.trips || counts.Calls() != 6 {
				t.Errorf("%d round trips of %d calls, want %d of 6", counts.RoundTrips(), counts.Calls(), c.trips)
			}
		})
	}
}

func TestRetriesAreAttemptsOfOneCall(t *testing.T) {
	asked := 0
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"ConsumedCapacity":{"CapacityUnits":2}}`)
	})
	ctx, counts := meter.With(t.Context())
	get(t, ctx, client)
	list := counts.List()
	if len(list) != 1 || list[0].Attempts != 3 || list[0].RRU != 2 || list[0].Code != "" {
		t.Fatalf("got %+v", list)
	}
	if list[0].Service != "DynamoDB" || list[0].Operation != "GetItem" || list[0].End.Before(list[0].Start) {
		t.Errorf("got %+v", list[0])
	}
	want := "[aws_calls=1 aws_round_trips=1 aws_retries=2 rru=2 wru=0]"
	if got := fmt.Sprint(counts.Attrs()); got != want {
		t.Errorf("log fields %s, want %s", got, want)
	}
}

func TestAFailedCallCarriesItsCodeAndNothingElse(t *testing.T) {
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"secret"}`)
	})
	ctx, counts := meter.With(t.Context())
	if _, err := client.GetItem(ctx, getInput()); err == nil {
		t.Fatal("no error")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := client.GetItem(cancelled, getInput()); err == nil {
		t.Fatal("no error")
	}
	codes := []string{}
	for _, c := range counts.List() {
		codes = append(codes, c.Code)
	}
	if !slices.Equal(codes, []string{"ConditionalCheckFailedException", "error"}) {
		t.Errorf("codes %q", codes)
	}
}

func TestUnitsThatAreToldApartAreTakenAsTold(t *testing.T) {
	// The answer of a transaction that is sent a second time: it only reads.
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"ConsumedCapacity":[{"CapacityUnits":4,"ReadCapacityUnits":4},
			{"CapacityUnits":6,"WriteCapacityUnits":6},{"CapacityUnits":1}]}`)
	})
	ctx, counts := meter.With(t.Context())
	expect.Value(client.TransactWriteItems(ctx, transaction("a")))(t)
	wantUnits(t, counts, 4, 7)
}

func TestAPanicEndsItsCall(t *testing.T) {
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) }, panicOnce())
	ctx, counts := meter.With(t.Context())
	func() {
		defer func() { recover() }()
		get(t, ctx, client)
	}()
	get(t, ctx, client)
	if counts.RoundTrips() != 2 || counts.Calls() != 2 {
		t.Errorf("%d round trips of %d calls", counts.RoundTrips(), counts.Calls())
	}
}

func TestPresigningIsNoCall(t *testing.T) {
	client := s3.NewFromConfig(config(), func(o *s3.Options) { o.APIOptions = append(o.APIOptions, meter.Add) })
	ctx, counts := meter.With(t.Context())
	in := &s3.PutObjectInput{Bucket: aws.String("bucket"), Key: aws.String("key")}
	expect.Value(s3.NewPresignClient(client).PresignPutObject(ctx, in))(t)
	if counts.Calls() != 0 || counts.RoundTrips() != 0 {
		t.Errorf("counted %+v", counts.List())
	}
}

func TestACallDoesNotChangeItsInput(t *testing.T) {
	client := talkTo(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) })
	ctx, _ := meter.With(t.Context())
	in := getInput()
	if _, err := client.GetItem(ctx, in); err != nil || in.ReturnConsumedCapacity != "" {
		t.Errorf("%v, input now asks for %q", err, in.ReturnConsumedCapacity)
	}
}

func talkTo(t *testing.T, handle http.HandlerFunc, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c := config()
	c.HTTPClient = server.Client()
	return dynamodb.NewFromConfig(c, append([]func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.BaseEndpoint = aws.String(server.URL)
		o.APIOptions = append(o.APIOptions, meter.Add)
		o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) { s.MaxBackoff = 1 })
	}}, options...)...)
}

// panicOnce makes the first call of a client panic inside the meter.
func panicOnce() func(*dynamodb.Options) {
	var once sync.Once
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Serialize.Add(middleware.SerializeMiddlewareFunc("panic", func(
				ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler,
			) (middleware.SerializeOutput, middleware.Metadata, error) {
				once.Do(func() { panic("once") })
				return next.HandleSerialize(ctx, in)
			}), middleware.Before)
		})
	}
}

func config() aws.Config {
	return aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
}

func get(t *testing.T, ctx context.Context, client *dynamodb.Client) {
	if _, err := client.GetItem(ctx, getInput()); err != nil {
		t.Error(err)
	}
}

func wantUnits(t *testing.T, c *meter.Counts, rru, wru float64) {
	t.Helper()
	if c.RRU() != rru || c.WRU() != wru {
		t.Errorf("%v RRU and %v WRU, want %v and %v", c.RRU(), c.WRU(), rru, wru)
	}
}

func TestDeniedObjectsAreInTheLogLine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bucket/gone" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, `<Error><Code>AccessDenied</Code></Error>`)
		}
	}))
	defer server.Close()
	client := s3.New(s3.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(server.URL),
		UsePathStyle: true,
		APIOptions:   []func(*middleware.Stack) error{meter.Add},
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	ctx, counts := meter.With(t.Context())
	bucket := aws.String("bucket")
	client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("gone")})
	if said := fmt.Sprint(counts.Attrs()); strings.Contains(said, "object_denied") {
		t.Errorf("of an object that is gone: %s", said)
	}
	client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: aws.String("denied")})
	client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("denied")})
	client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("denied")})
	if said := fmt.Sprint(counts.Attrs()); !strings.Contains(said, "object_denied=2") {
		t.Errorf("of two denied objects: %s", said)
	}
}
