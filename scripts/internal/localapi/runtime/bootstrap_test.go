package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/shared/adapter/lambdahttp"
)

// The roles in which this test binary starts itself.
const (
	roleVariable = "VITRINE_TEST_ROLE"
	roleFunction = "function"
	roleStarts   = "fails at its start"
	roleParent   = "parent"
	roleLeftover = "function with work after its answers"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleFunction:
		lambda.Start(obey)
	case roleStarts:
		fmt.Fprint(os.Stderr, "no settings")
		os.Exit(4)
	case roleParent:
		actAsParent()
	case roleLeftover:
		slog.SetDefault(lambdahttp.NewLog(os.Stderr))
		lambdahttp.Start(leftover{}, lambdahttp.Stream, nil)
	default:
		os.Exit(m.Run())
	}
}

// leftover is a handler that answers with its process, and has work after every answer.
type leftover struct{}

func (leftover) ServeHTTP(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) }

func (leftover) Settle() int { return 1 }

// command is the event of the test function.
type command struct {
	Do   string
	Gate string // URL of a gate to pass
	Size int
}

// obey is a function that does what its event says.
func obey(ctx context.Context, c command) (any, error) {
	switch c.Do {
	case "tell":
		deadline, _ := ctx.Deadline()
		return map[string]any{"pid": os.Getpid(), "env": os.Environ(), "deadline": deadline.UnixMilli()}, nil
	case "fail":
		return nil, errors.New("it went wrong")
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(3)
	case "hang":
		<-make(chan int)
	case "print":
		fmt.Print("to stdout\nand no end")
		fmt.Fprintln(os.Stderr, "to stderr\n{\"level\":1}")
		os.Exit(0)
	case "large":
		return strings.Repeat("x", c.Size), nil
	case "pass":
		return os.Getpid(), pass(c.Gate)
	}
	return stream(c), nil
}

// stream answers with "first", then does what the command says.
func stream(c command) any {
	reader, writer := io.Pipe()
	go func() {
		io.WriteString(writer, "first")
		switch c.Do {
		case "stream":
			writer.CloseWithError(pass(c.Gate))
		case "stream, fail":
			writer.CloseWithError(errors.New("it went wrong"))
		case "stream, exit":
			pass(c.Gate)
			os.Exit(3)
		case "stream, hang":
			<-make(chan int)
		}
	}()
	return &events.APIGatewayProxyStreamingResponse{StatusCode: 200, Body: reader}
}

// pass waits at a gate: a test server that answers when the test releases it.
func pass(gate string) error {
	response, err := http.Get(gate)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (c command) event() []byte {
	text, _ := json.Marshal(c)
	return text
}

// actAsParent starts a function that never ends, prints its process id, and waits to be killed.
func actAsParent() {
	f := New(Config{
		Name:        "child",
		Program:     os.Args[0],
		Environment: map[string]string{roleVariable: roleFunction},
		Timeout:     time.Hour,
		Processes:   1,
		Log:         os.Stderr,
	})
	answer, err := f.Invoke(context.Background(), command{Do: "tell"}.event())
	fmt.Println(string(answer), err)
	_, err = f.Invoke(context.Background(), command{Do: "hang"}.event())
	fmt.Println(err)
}
