//go:build !linux

package main

import (
	"context"

	function "vitrine/scripts/internal/localapi/runtime"
)

// invokeOnOneCore is not asked for here.
func invokeOnOneCore(ctx context.Context, f *function.Function, event []byte) ([]byte, error) {
	return f.Invoke(ctx, event)
}
