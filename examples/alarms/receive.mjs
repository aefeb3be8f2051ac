// Prints the body of each request, as a line.

import { createServer } from "node:http";

const server = createServer(async (request, response) => {
	let body = "";
	for await (const chunk of request.setEncoding("utf8")) body += chunk;
	console.log(body);
	response.writeHead(204).end();
});
server.listen(0, "127.0.0.1", () => console.log(`listens on 127.0.0.1:${server.address().port}`));
