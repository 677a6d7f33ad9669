package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/port"
	"vitrine/shared/platform/contract"
)

func TestTheStackStartsStopsAndKeepsItsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	base := port.Base(t)
	first := startStack(t, base, "--data", data)
	wantAnswers(t, base)
	rings := readFile(t, filepath.Join(data, "rings.json"))
	first.stop(t)
	second := startStack(t, base, "--data", data)
	if got := readFile(t, filepath.Join(data, "rings.json")); got != rings {
		t.Error("the key rings were made anew")
	}
	second.stop(t)
}

func TestTheStackRunsAsLambdaFunctions(t *testing.T) {
	base := port.Base(t)
	s := startStack(t, base, "--memory", "--lambda")
	wantAnswers(t, base)
	response, err := http.Get(fmt.Sprintf("http://localhost:%d/v1/whoami", base+1))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") ||
		response.Header.Get("Apigw-Requestid") == "" {
		t.Errorf("the challenge is %q, and the headers are %v", got, response.Header)
	}
	s.stop(t)
}

func TestAnEngineThatEndsEndsTheStack(t *testing.T) {
	l := &local{options: options{base: port.Base(t)}, out: io.Discard, log: io.Discard}
	if err := l.start(t.Context()); err != nil {
		t.Error(err, l.stop())
		return
	}
	l.engines.S3Process.Kill()
	expect.Error(t, l.stay(t.Context()), "S3 engine ended")
	if err := l.stop(); err != nil {
		t.Error(err)
	}
}

func TestAPortInUseIsNamed(t *testing.T) {
	for offset, name := range map[int]string{
		1:                      "api host",
		6:                      "identity provider",
		engines.DynamoDBOffset: "DynamoDB engine",
		engines.S3Offset:       "S3 engine",
	} {
		t.Run(name, func(t *testing.T) {
			base := port.Base(t)
			listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", base+offset))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			code, said := runToEnd(t, "--memory", "--ports", fmt.Sprint(base))
			last := said[strings.LastIndex(strings.TrimSuffix(said, "\n"), "\n")+1:]
			for _, part := range []string{name, fmt.Sprintf("port %d", base+offset), "--ports"} {
				if code != 1 || !strings.Contains(last, part) {
					t.Errorf("exit %d, %q does not say %q", code, last, part)
				}
			}
		})
	}
}

func wantAnswers(t *testing.T, base int) {
	t.Helper()
	for _, c := range []struct {
		address string
		offset  int
		path    string
		status  int
	}{
		{"127.0.0.1", 1, "/healthz", 200},
		{"localhost", 1, "/healthz", 200},
		{"localhost", 2, "/healthz", 200},
		{"127.0.0.1", 3, "/healthz", 200},
		{"localhost", 4, "/healthz", 200},
		{"localhost", 5, "/healthz", 200},
		{"localhost", 6, "/mint?email=ada@example.org", 200},
		{"localhost", 2, "/o/x", 403},
	} {
		response, err := http.Get(fmt.Sprintf("http://%s:%d%s", c.address, base+c.offset, c.path))
		if err != nil {
			t.Error(err)
			continue
		}
		if response.Body.Close(); response.StatusCode != c.status {
			t.Errorf("%s:+%d%s answers %s", c.address, c.offset, c.path, response.Status)
		}
	}
}

// running is a stack in this process.
type running struct {
	cancel context.CancelFunc
	code   chan int
}

// startStack runs the program until it is ready.
func startStack(t *testing.T, base int, args ...string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	reader, writer := io.Pipe()
	r := running{cancel, make(chan int, 1)}
	go func() {
		r.code <- run(ctx, append(args, "--ports", fmt.Sprint(base)), writer, t.Output())
		writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		t.Log(lines.Text())
		if strings.HasPrefix(lines.Text(), "ready") {
			go io.Copy(io.Discard, reader)
			return r
		}
	}
	t.Fatalf("never ready, exit %d", <-r.code)
	return r
}

func (r running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	if code := <-r.code; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// runToEnd runs the program and returns its exit code and standard error.
func runToEnd(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var stderr strings.Builder
	return run(t.Context(), args, io.Discard, &stderr), stderr.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheCLIOfTheTreeIsOffered(t *testing.T) {
	var said strings.Builder
	l := &local{options: options{base: port.Base(t)}, out: &said, log: t.Output()}
	if err := l.start(t.Context()); err != nil {
		t.Error(err, l.stop())
		return
	}
	<-l.cli.Done()
	app := l.stack.Origins.App
	for _, path := range []string{"/install.sh", "/cli/" + contract.Release + "/checksums.txt"} {
		response, err := http.Get(app + path)
		if err != nil {
			t.Error(err)
			continue
		}
		text := expect.Body(t, response)
		if !strings.Contains(text, runtime.GOARCH) || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", path, response.Status, text)
		}
	}
	if err := l.stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(said.String(), "install  curl -fsSL "+app+"/install.sh | sh\n") {
		t.Errorf("it says %s", said.String())
	}
}
