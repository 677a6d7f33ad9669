package lambdahttp

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
)

// A gateway logs its own id of a request and that of the invocation. Lambda reads level and
// timestamp.
func TestTheLineOfARequestNamesItAsGatewayAndLambdaDo(t *testing.T) {
	v2, v1 := httpAPIEvent("GET", "/healthz"), restEvent("GET", "/healthz")
	v2.Headers = map[string]string{"x-request-id": "client-chose-it"}
	v1.AllHeaders = map[string][]string{"X-Request-Id": {"client-chose-it"}}
	for kind, e := range map[string]event{"HTTP API": v2, "REST API": v1} {
		var log bytes.Buffer
		surface := web.Server{Log: NewLog(&log), Now: time.Now}
		e.Context.RequestID = "gateway-1"
		ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "invocation-1"})
		out := expect.Value(adapter{handler: surface.Handler(), mode: Stream}.serve(ctx, e))(t)
		if s, streams := out.(*events.APIGatewayProxyStreamingResponse); streams {
			expect.Value(io.ReadAll(s.Body))(t)
			s.Body.(io.Closer).Close() // returns when the handler has
		}
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v: %s", kind, err, log.String())
		}
		for field, want := range map[string]any{
			"request_id":              "client-chose-it",
			web.GatewayRequestIDField: "gateway-1",
			"requestId":               "invocation-1",
			"level":                   "INFO",
			"message":                 "request",
		} {
			if line[field] != want {
				t.Errorf("%s: %s is %v, want %v", kind, field, line[field], want)
			}
		}
		if text, _ := line["timestamp"].(string); text == "" {
			t.Errorf("%s: it has no timestamp", kind)
		} else if _, err := time.Parse(time.RFC3339, text); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
