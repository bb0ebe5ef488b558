/** A webhook endpoint that answers 200 and counts: `bun scripts/bench/programs/receiver.ts CERT KEY` prints
 *  `{"port": …}`, then the running count whenever a line comes on standard input. */
let posts = 0
const [certificateFile, keyFile] = process.argv.slice(2)
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: { cert: Bun.file(certificateFile!), key: Bun.file(keyFile!) },
  idleTimeout: 0,
  fetch: async (request) => {
    await request.arrayBuffer()
    posts++
    return new Response('ok')
  },
})
console.log(JSON.stringify({ port: server.port }))
process.stdin.on('data', () => console.log(JSON.stringify({ posts })))
process.stdin.on('end', () => process.exit(0))
