// Package console lets an operator work through the pages of the app host in a browser.
package console

import (
	"context"
	"os"
	"testing"

	"vitrine/scripts/testkit/browser"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
