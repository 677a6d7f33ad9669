package lambdahttp

import (
	"context"
	"io"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// NewLog returns a logger that writes JSON lines in the format of Lambda's logs: timestamp, level, message, and the ID
// of the invocation.
func NewLog(to io.Writer) *slog.Logger {
	return slog.New(
		invocationHandler{newLineHandler(to, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})})
}

// invocationHandler adds the ID of the invocation in the context.
type invocationHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h invocationHandler) Handle(ctx context.Context, r slog.Record) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h invocationHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h invocationHandler) WithGroup(name string) slog.Handler {
	return invocationHandler{h.Handler.WithGroup(name)}
}
