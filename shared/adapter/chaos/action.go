package chaos

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"syscall"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Fail answers with err itself. The SDK retries it only if it is retryable.
func Fail(err error) Action { return func(context.Context, *Call) error { return err } }

// Throttle answers as an overloaded service does: ProvisionedThroughputExceededException, or S3's SlowDown.
func Throttle(_ context.Context, c *Call) error {
	if c.Service == s3.ServiceID {
		return answer(http.StatusServiceUnavailable,
			&smithy.GenericAPIError{Code: "SlowDown", Message: "Please reduce your request rate."})
	}
	return answer(http.StatusBadRequest, &types.ProvisionedThroughputExceededException{Message: text("throttled")})
}

// ServerError answers with status 500.
func ServerError(_ context.Context, c *Call) error {
	if c.Service == s3.ServiceID {
		return answer(http.StatusInternalServerError, &smithy.GenericAPIError{
			Code:    "InternalError",
			Message: "We encountered an internal error.",
		})
	}
	return answer(http.StatusInternalServerError, &types.InternalServerError{Message: text("internal error")})
}

// Conflict answers that another transaction holds an item: the first one of a transaction, or that of a single write.
// The SDK does not retry it.
func Conflict(ctx context.Context, c *Call) error {
	if transactionItems(c.Input) == 0 {
		return answer(http.StatusBadRequest,
			&types.TransactionConflictException{Message: text("Transaction is ongoing for the item")})
	}
	return Cancel(types.CancellationReason{Code: text("TransactionConflict")})(ctx, c)
}

// Cancel answers that a transaction was cancelled for these reasons, in the order of its items. Missing reasons are
// None.
func Cancel(reasons ...types.CancellationReason) Action {
	return func(_ context.Context, c *Call) error {
		all := slices.Clone(reasons)
		for len(all) < transactionItems(c.Input) {
			all = append(all, types.CancellationReason{Code: text("None")})
		}
		return answer(http.StatusBadRequest, &types.TransactionCanceledException{
			Message:             text("Transaction cancelled, please refer cancellation reasons for specific reasons"),
			CancellationReasons: all,
		})
	}
}

func transactionItems(input any) int {
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		return len(in.TransactItems)
	case *dynamodb.TransactGetItemsInput:
		return len(in.TransactItems)
	}
	return 0
}

// Timeout fails like a connection on which no answer arrives. As an After action, the call took effect, and the SDK
// sends it again.
func Timeout(context.Context, *Call) error { return network("read", os.ErrDeadlineExceeded) }

// Unreachable fails like an engine that refuses connections.
func Unreachable(context.Context, *Call) error { return network("dial", syscall.ECONNREFUSED) }

// network returns an error as net/http makes it. The text of such an error quotes the URL, which may be a credential.
// Tests look for this URL in logs and answers.
func network(op string, err error) error {
	return &smithyhttp.RequestSendError{Err: &url.Error{
		Op: "Post", URL: "http://engine.invalid/?X-Amz-Signature=chaos", Err: &net.OpError{Op: op, Net: "tcp", Err: err},
	}}
}

// Hold waits until release is closed or the context of the call ends.
func Hold(release <-chan struct{}) Action {
	return func(ctx context.Context, _ *Call) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return &smithy.CanceledError{Err: ctx.Err()}
		}
	}
}

// Delay waits for d, like a slow network.
func Delay(d time.Duration) Action {
	return func(ctx context.Context, c *Call) error {
		due := make(chan struct{})
		timer := time.AfterFunc(d, func() { close(due) })
		defer timer.Stop()
		return Hold(due)(ctx, c)
	}
}

// Run calls f. f may do anything except end the test; for example, it may call other operations of the same client.
func Run(f func()) Action {
	return func(context.Context, *Call) error { f(); return nil }
}

// Cut ends the body of a GetObject cleanly after n bytes. It is an After action.
func Cut(n int64) Action { return cut(n, io.EOF) }

// Break ends the body of a GetObject after n bytes with the error of a lost connection. It is an After action.
func Break(n int64) Action {
	return cut(n, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)})
}

func cut(n int64, end error) Action {
	return func(_ context.Context, c *Call) error {
		out, ok := c.Output.(*s3.GetObjectOutput)
		if !ok {
			return errors.New("chaos: only the answer of GetObject has a body to cut")
		}
		out.Body = &cutBody{ReadCloser: out.Body, left: n, end: end}
		return nil
	}
}

type cutBody struct {
	io.ReadCloser
	left int64
	end  error
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.end
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// discard closes the body of an answer that is dropped.
func discard(output any) {
	if out, ok := output.(*s3.GetObjectOutput); ok {
		out.Body.Close()
	}
}

// answer wraps err as the SDK wraps an HTTP answer with this status.
func answer(status int, err error) error {
	return &awshttp.ResponseError{RequestID: "chaos", ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{},
			Body: http.NoBody}},
		Err: err,
	}}
}

func text(s string) *string { return &s }
