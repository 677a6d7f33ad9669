// Command lambda makes the bundles of revisions as a Lambda function.
package main

import (
	"vitrine/shared/boot/bundle"
	"vitrine/shared/boot/function"
)

func main() {
	function.Work("bundle", bundle.Handler)
}
