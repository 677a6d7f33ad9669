package lambdahttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
)

var options = &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr}

// requestLine is what a request logs.
var requestLine = []slog.Attr{
	slog.String("request_id", "0190a1b2-0000-7000-8000-000000000000"), slog.String("method", "GET"),
	slog.String("route", "/v/{token}/{path...}"), slog.Int("status", 200), slog.Float64("duration_ms", 1.234),
	slog.Int64("bytes", 4096), slog.String("artifact", "0190a1b2-0000-7000-8000-000000000000"),
	slog.Int("aws_calls", 3), slog.Float64("rru", 2), slog.Float64("wru", 0), slog.Bool("slow_reader", true),
}

func TestALineIsTheOneOfTheJSONHandler(t *testing.T) {
	at := time.Date(2026, 9, 28, 10, 0, 0, 120_000_000, time.FixedZone("", 3600))
	for name, attrs := range map[string][]slog.Attr{
		"a request":       requestLine,
		"nothing":         nil,
		"an error":        {slog.Any("error", errors.New("it broke")), slog.String("code", "internal_error")},
		"text":            {slog.String("error", "a \"quote\", a \\, a\ttab, <b>&, a \x00, é, \u2028 and \xff")},
		"fractions":       {slog.Float64("a", 0.1), slog.Float64("b", -1e-7)},
		"great fractions": {slog.Float64("a", 1e20), slog.Float64("b", 1e21)},
		"no number":       {slog.Float64("a", math.NaN()), slog.Float64("b", math.Inf(1))},
		"negative zero":   {slog.Float64("a", math.Copysign(0, -1))},
		"great numbers":   {slog.Uint64("a", math.MaxUint64), slog.Int64("b", math.MinInt64)},
		"a time":          {slog.Time("at", at), slog.Duration("took", time.Second)},
		"a group":         {slog.Group("g", slog.Int("a", 1))},
		"an empty attr":   {{}, slog.Int("a", 1)},
		"keys of its own": {slog.String("time", "x"), slog.String("msg", "y"), slog.String("level", "z")},
		"a key in quotes": {slog.String("a\"b", "c")},
		"a nameless text": {slog.String("", "x")},
	} {
		for _, level := range []slog.Level{slog.LevelInfo, slog.LevelError, slog.LevelWarn + 1} {
			r := slog.NewRecord(at, level, "request", 0)
			r.AddAttrs(attrs...)
			for with, change := range map[string]func(slog.Handler) slog.Handler{
				"alone":       func(h slog.Handler) slog.Handler { return h },
				"of a host":   func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.String("host", "api")}) },
				"in a group":  func(h slog.Handler) slog.Handler { return h.WithGroup("g") },
				"of an error": func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.Any("e", io.EOF)}) },
			} {
				var want, got bytes.Buffer
				err1 := change(slog.NewJSONHandler(&want, options)).Handle(context.Background(), r)
				err2 := change(newLineHandler(&got, options)).Handle(context.Background(), r)
				if err1 != nil || err2 != nil || got.String() != want.String() {
					t.Errorf("%s, %s, %v: %v %v\n%s%s", name, with, level, err1, err2, got.String(), want.String())
				}
			}
		}
	}
}

func TestTheLineOfARequestIsWrittenWithoutAllocation(t *testing.T) {
	h := newLineHandler(io.Discard, options).WithAttrs([]slog.Attr{slog.String("host", "content")})
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	r.AddAttrs(requestLine...)
	if n := testing.AllocsPerRun(100, func() { h.Handle(context.Background(), r) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

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
