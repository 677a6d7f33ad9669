// Calls tools with the official TypeScript SDK after it has listed them, because it holds answers to the schemas that it
// has listed. Usage: sdk.mjs ADDRESS CALLS. CALLS is JSON, a list of {name, arguments}. Prints what each call gives.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address, calls] = process.argv.slice(2);
const client = new Client({ name: "sdk", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
await client.listTools();
const given = [];
for (const call of JSON.parse(calls)) {
  given.push(await client.callTool(call).catch((error) => ({ thrown: error.message })));
}
console.log(JSON.stringify(given));
await client.close();
