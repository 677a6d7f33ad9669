//go:build conformance

package conformance

import (
	"os"
	"testing"

	"vitrine/scripts/testkit/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
