// Command lambda runs the host of bundles and exports as a Lambda function.
package main

import (
	"vitrine/functions/assembly/bundle"
	"vitrine/functions/assembly/function"
)

func main() {
	function.Work("bundle", bundle.Handler)
}
