/** A mail server that takes everything as fast as it can: counts the mails, keeps none. Run as a process of its own:
 *  `bun scripts/bench/sink.ts` prints `{"port": …}`, then the running count whenever a line comes on standard input. */
import { createServer } from 'node:net'

let mails = 0

const server = createServer({ noDelay: true }, (socket) => {
  socket.setEncoding('latin1')
  socket.write('220 sink ESMTP\r\n')
  let isData = false
  let rest = ''
  socket.on('data', (chunk: string) => {
    rest += chunk
    let answer = ''
    for (;;) {
      if (isData) {
        const end = rest.indexOf('\r\n.\r\n')
        if (end < 0) {
          if (rest.length > 4) rest = rest.slice(-4)
          break
        }
        rest = rest.slice(end + 5)
        isData = false
        mails++
        answer += '250 2.0.0 Ok\r\n'
      }
      const end = rest.indexOf('\r\n')
      if (end < 0) break
      const verb = rest.slice(0, 4).toUpperCase()
      rest = rest.slice(end + 2)
      if (verb === 'EHLO') answer += '250-sink\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250 8BITMIME\r\n'
      else if (verb === 'DATA') {
        answer += '354 go on\r\n'
        isData = true
      } else if (verb === 'QUIT') answer += '221 2.0.0 Bye\r\n'
      else answer += '250 2.1.0 Ok\r\n'
    }
    if (answer !== '') socket.write(answer)
  })
  socket.on('error', () => socket.destroy())
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === 'object' ? address!.port : 0 }))
})
process.stdin.on('data', () => console.log(JSON.stringify({ mails })))
process.stdin.on('end', () => process.exit(0))
