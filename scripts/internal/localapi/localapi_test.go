package localapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/scripts/internal/localapi/template"
	"vitrine/scripts/testkit/expect"
)

// hostVariable makes this test binary the function of a host.
const hostVariable = "VITRINE_TEST_HOST"

func TestMain(m *testing.M) {
	switch os.Getenv(hostVariable) {
	case "api":
		lambda.Start(func(_ context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
			told, err := json.Marshal([]string{e.RawPath, os.Getenv("TABLE"), os.Getenv("PLAIN"), os.Getenv("UNDECLARED"),
				os.Getenv("AWS_REGION")})
			return events.APIGatewayV2HTTPResponse{
				StatusCode: 401,
				Body:       string(told),
				Headers:    map[string]string{"WWW-Authenticate": "ours", "X-Challenge": "ours"},
			}, err
		})
	case "content":
		lambda.Start(func(_ context.Context, e events.APIGatewayProxyRequest) (any, error) {
			return &events.APIGatewayProxyStreamingResponse{
				StatusCode: 200,
				Body:       strings.NewReader(e.PathParameters["proxy"]),
			}, nil
		})
	default:
		os.Exit(m.Run())
	}
}

// shop returns the deployment of the template tests, with this test binary as the program of its
// functions.
func shop(t *testing.T) Config {
	t.Helper()
	d, err := template.Read(filepath.Join("template", "testdata", "deployment"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Functions { // the variables of a function identify it
		if f.Environment == nil {
			f.Environment = map[string]string{}
		}
		f.Environment[hostVariable] = f.Host
	}
	return Config{
		Deployment: d,
		Program:    map[string]string{"api": os.Args[0], "content": os.Args[0]},
		Settings:   map[string]string{"TABLE": "local-table", "ROLE": "r", "UNDECLARED": "never told"},
		Given:      map[string]string{"AWS_REGION": "here"},
		Processes:  2,
		Waiting:    2,
		Output:     t.Output(),
		Log:        slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func TestADeploymentAnswersThroughItsGateways(t *testing.T) {
	h, err := Open(shop(t))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, c := range []struct {
		host, path, body, challenge string
		status                      int
	}{
		{"api", "/a%20b", `["/a b","local-table","text","","here"]`, "ours", 401},
		{"content", "/v/a%20b/c", "a%20b/c", "", 200},
		{"content", "/w", "", "", 418},
	} {
		handler, err := h.Handler(c.host)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(handler)
		defer server.Close()
		response, err := http.Get(server.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		body := expect.Body(t, response)
		if response.StatusCode != c.status || c.status != 418 && body != c.body {
			t.Errorf("%s%s: %s %q", c.host, c.path, response.Status, body)
		}
		if got := response.Header.Get("WWW-Authenticate"); got != c.challenge {
			t.Errorf("%s%s: the challenge is %q", c.host, c.path, got)
		}
	}
}

func TestOwnOriginsHavePagesAtAPathOfTheirOwn(t *testing.T) {
	config := shop(t)
	for _, a := range config.Deployment.APIs {
		if hostOf(a) == "content" {
			pages := *a.Routes[0]
			pages.Path = "/r/{proxy+}"
			a.Routes = append(a.Routes, &pages)
		}
	}
	h, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	own, err := h.Own("content")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/.vitrine/r/x": 200, "/v/x": 200, "/r/x": 418, "/.vitrine/x": 418} {
		w := httptest.NewRecorder()
		own.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || want == 200 && w.Body.String() != "x" {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
	_, err = h.Own("nobody")
	expect.Error(t, err, "no template has a gateway for host nobody")
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"a value of a resource": {func(c *Config) { delete(c.Settings, "TABLE") },
			"function Fn1 of stack Shop-Api is told TABLE"},
		"a program": {func(c *Config) { delete(c.Program, "content") },
			`is of host "content", which has no program`},
		"a host": {func(c *Config) { c.Deployment.Functions[0].Host, c.Program[""] = "", "x" },
			`gateway Api1 of stack Shop-Api has to lead to a host of its own, and leads to ""`},
		"a second gateway": {func(c *Config) { c.Deployment.APIs = append(c.Deployment.APIs, c.Deployment.APIs[0]) },
			`has to lead to a host of its own, and leads to "api"`},
	} {
		t.Run(name, func(t *testing.T) {
			config := shop(t)
			c.change(&config)
			_, err := Open(config)
			expect.Error(t, err, c.says)
		})
	}
	h, err := Open(shop(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Handler("app")
	expect.Error(t, err, "no template has a gateway for host app")
}
