/** An external sender: `bun scripts/bench/programs/sender.ts HOST:PORT CONNECTIONS COUNT MAIL_FILE RECIPIENT
 *  [stepwise]` sends the mail COUNT times over that many kept connections, one at a time on each, and prints the
 *  rate and the latencies from MAIL to the reply after the final dot as JSON. `@FILE` has one recipient on each
 *  line, for one mail each. Commands are pipelined, or each waits for the previous reply. Raw sockets and prepared
 *  bytes. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [target, connectionsText, countText, mailFile, recipient, extra] = process.argv.slice(2)
const [host, port] = target!.split(':')
const connections = Number(connectionsText)
const count = Number(countText)
const mail = readFileSync(mailFile!)
const recipients = recipient!.startsWith('@') ? readFileSync(recipient!.slice(1), 'utf8').split('\n') : [recipient]
const envelopes = recipients.map((to) => {
  const commands = [`MAIL FROM:<news@author.example> SIZE=${mail.length}\r\n`, `RCPT TO:<${to}>\r\n`, 'DATA\r\n']
  return extra === 'stepwise' ? commands : [commands.join('')]
})
const content = Buffer.concat([mail, Buffer.from('.\r\n')])

let sent = 0
let failed = 0
const latenciesMs: number[] = []

/** Twenty-five from each address, below the limit of a listener. */
function client(_: unknown, number: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const localAddress = `127.0.0.${10 + Math.floor(number / 25)}`
    const socket = connect({ host: host!, port: Number(port), noDelay: true, localAddress })
    /** Replies in order: greeting, EHLO, then for each mail MAIL, RCPT, DATA, dot. */
    const steps = { envelope: [] as string[], left: 0, startedAt: 0, pending: '', isGreeted: false, isReady: false }
    const next = () => {
      if (sent >= count) {
        socket.end('QUIT\r\n')
        return resolve()
      }
      steps.envelope = envelopes[sent++ % envelopes.length]!
      steps.startedAt = performance.now()
      steps.left = 4
      socket.write(steps.envelope[0]!)
    }
    const answered = (line: string) => {
      if (line[3] === '-') return
      if (!steps.isGreeted) {
        if (!line.startsWith('220')) return reject(new Error(line))
        steps.isGreeted = true
        socket.write('EHLO mx.author.example\r\n')
      } else if (!steps.isReady) {
        steps.isReady = true
        next()
      } else if (--steps.left === 1) {
        if (!line.startsWith('354')) return reject(new Error(line))
        socket.write(content)
      } else if (steps.left === 0) {
        latenciesMs.push(performance.now() - steps.startedAt)
        if (!line.startsWith('250') && ++failed === 1) console.error(line)
        next()
      } else if (steps.left > 1 && steps.envelope.length > 1) socket.write(steps.envelope[4 - steps.left]!)
    }
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.on('data', (chunk: string) => {
      steps.pending += chunk
      for (let end = steps.pending.indexOf('\n'); end >= 0; end = steps.pending.indexOf('\n')) {
        const line = steps.pending.slice(0, end)
        steps.pending = steps.pending.slice(end + 1)
        answered(line)
      }
    })
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: Math.min(connections, count) }, client))
const seconds = (performance.now() - startedAt) / 1000
latenciesMs.sort((a, b) => a - b)
const at = (share: number) => Number((latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0).toFixed(2))
console.log(
  JSON.stringify({ perSecond: Math.round(count / seconds), seconds, failed, p50Ms: at(0.5), p99Ms: at(0.99) }),
)
