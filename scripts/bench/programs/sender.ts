/** An external sender: `bun scripts/bench/programs/sender.ts HOST:PORT CONNECTIONS COUNT MAIL_FILE RECIPIENT` sends the mail
 *  COUNT times over that many kept connections, one at a time on each with pipelined commands, and prints the rate and the
 *  refused ones as JSON. Raw sockets and prepared bytes. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [target, connectionsText, countText, mailFile, recipient] = process.argv.slice(2)
const [host, port] = target!.split(':')
const count = Number(countText)
const mail = readFileSync(mailFile!)
const envelope = `MAIL FROM:<news@author.example> SIZE=${mail.length}\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`
const content = Buffer.concat([mail, Buffer.from('.\r\n')])
/** Final replies before each mail's content: those of MAIL, RCPT and DATA. */
const ENVELOPE_REPLIES = 3

let sent = 0
let failed = 0

/** Twenty-five from each address, below the limit of a listener. */
function client(_: unknown, number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const localAddress = `127.0.0.${10 + Math.floor(number / 25)}`
    const socket = connect({ host: host!, port: Number(port), noDelay: true, localAddress })
    const next = () => {
      if (sent++ < count) return socket.write(envelope)
      socket.end('QUIT\r\n')
      resolve()
    }
    /** Final replies so far; those of the greeting and EHLO come before the mails. */
    let replies = 0
    const replied = (line: string) => {
      const step = (replies++ - 2) % (ENVELOPE_REPLIES + 1)
      if (replies === 1) socket.write('EHLO mx.author.example\r\n')
      else if (replies === 2) next()
      else if (step === ENVELOPE_REPLIES - 1) {
        if (!line.startsWith('354')) reject(new Error(line))
        socket.write(content)
      } else if (step === ENVELOPE_REPLIES) {
        if (!line.startsWith('250') && ++failed === 1) console.error(line)
        next()
      }
    }
    let pending = ''
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.on('data', (chunk: string) => {
      const lines = (pending + chunk).split('\n')
      pending = lines.pop()!
      for (const line of lines) if (line[3] !== '-') replied(line)
    })
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: Math.min(Number(connectionsText), count) }, client))
const perSecond = Math.round((count / (performance.now() - startedAt)) * 1000)
console.log(JSON.stringify({ perSecond, failed }))
