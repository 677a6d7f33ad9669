package main

import "time"

// Prices in dollars of us-east-1, without free tiers. AWS changes them; compare them before you rely on a sum:
// aws.amazon.com/api-gateway/pricing, /lambda/pricing (arm64), /dynamodb/pricing/on-demand, /s3/pricing (Standard),
// /cloudfront/pricing and /cloudwatch/pricing.
const (
	restRequest  = 3.50 / 1e6 // of a REST API, which streams
	httpRequest  = 1.00 / 1e6 // of an HTTP API
	gatewayByte  = 0.09 / 1e9 // sent to clients
	invocation   = 0.20 / 1e6
	gigabyteTime = 13.33 / 1e6 // a GB of memory for a second
	writeUnit    = 0.625 / 1e6
	readUnit     = 0.125 / 1e6
	objectWrite  = 5.00 / 1e6 // PUT, COPY and LIST
	objectRead   = 0.40 / 1e6 // GET and HEAD; DELETE is free
	edgeRequest  = 1.00 / 1e6 // HTTPS
	edgeByte     = 0.02 / 1e9 // sent to the origin
	loggedByte   = 0.50 / 1e9
)

// What a function waits for in AWS, which engines on one machine cannot tell. They are estimates of a call within a
// region, and only Lambda's time is computed from them.
const (
	itemWait        = 5500 * time.Microsecond
	transactionWait = 14 * time.Millisecond
	objectWait      = 30 * time.Millisecond
)

// Memory of the functions in GB, and with how much of it a function has a whole core.
const (
	smallFunction  = 0.5
	uploadFunction = 1.0
	wholeCore      = 1769.0 / 1024
)
