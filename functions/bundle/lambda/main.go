// Command lambda makes the bundles of revisions and the exports of workspaces as a Lambda function.
package main

import (
	"vitrine/functions/assembly/bundle"
	"vitrine/functions/assembly/function"
)

func main() {
	function.Work("bundle", bundle.Handler)
}
