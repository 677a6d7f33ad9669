// Command lambda is the host of jobs as a Lambda function.
package main

import (
	"vitrine/shared/boot/function"
	"vitrine/shared/boot/jobs"
)

func main() {
	function.Work("jobs", jobs.Handler)
}
