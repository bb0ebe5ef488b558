import { createServer, type Socket } from 'node:net'

/** How a mail server of the bench behaves. */
export interface Manner {
  /** Its reply to RCPT. */
  recipient?: string
  /** Before each of its replies. */
  delayMs?: number
  /** At the final dot, before the reply. */
  onMail?: () => void
}

/** A mail server that counts or refuses, keeps nothing, and uses as little CPU as possible → its port, once it
 *  listens there. */
export function listenAsPeer(manner: Manner, host: string, port = 0): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => converse(socket, manner))
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' ? address!.port : port)
    })
  })
}

const EXTENSIONS = '250-sink\r\n250-PIPELINING\r\n250-CHUNKING\r\n250-ENHANCEDSTATUSCODES\r\n250 8BITMIME\r\n'
const NO_RECIPIENT = '503 5.5.1 No valid recipients\r\n'

function converse(socket: Socket, { recipient = '250 2.1.5 Ok', delayMs = 0, onMail = () => {} }: Manner): void {
  const say = (answer: string) => {
    if (delayMs === 0) socket.write(answer)
    else setTimeout(() => socket.write(answer), delayMs)
  }
  socket.setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  say('220 sink ESMTP\r\n')
  let isData = false
  let chunkBytes = 0
  let accepted = 0
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
        onMail()
        answer += '250 2.0.0 Ok\r\n'
      }
      if (chunkBytes > 0) {
        if (rest.length < chunkBytes) break
        rest = rest.slice(chunkBytes)
        chunkBytes = 0
        if (accepted > 0) onMail()
        answer += accepted > 0 ? '250 2.0.0 Ok\r\n' : NO_RECIPIENT
        accepted = 0
      }
      const end = rest.indexOf('\r\n')
      if (end < 0) break
      const verb = rest.slice(0, 4).toUpperCase()
      if (verb === 'BDAT') chunkBytes = Number.parseInt(rest.slice(5, end), 10)
      rest = rest.slice(end + 2)
      if (verb === 'BDAT') continue
      if (verb === 'EHLO') answer += EXTENSIONS
      else if (verb === 'DATA') {
        isData = accepted > 0
        accepted = 0
        answer += isData ? '354 go on\r\n' : NO_RECIPIENT
      } else if (verb === 'RCPT') {
        if (recipient.startsWith('2')) accepted++
        answer += `${recipient}\r\n`
      } else if (verb === 'QUIT') answer += '221 2.0.0 Bye\r\n'
      else answer += '250 2.1.0 Ok\r\n'
    }
    if (answer !== '') say(answer)
  })
}
