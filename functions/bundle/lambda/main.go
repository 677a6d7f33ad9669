// Command lambda makes the bundles of revisions and the exports of workspaces as a Lambda function.
package main

import (
	"vitrine/shared/boot/bundle"
	"vitrine/shared/boot/function"
)

func main() {
	function.Work("bundle", bundle.Handler)
}
