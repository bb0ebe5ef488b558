/** A stranger at the public ports, started by attacker.ts: expensive mails, mail with silent DNS, connection floods,
 *  guessed recipients, garbage. Parameters as JSON: see Parameters. */
import { connect } from 'node:net'
import { openConnection } from '../../smtp-client.ts'
import { attackUntilTold, forever } from './attacker.ts'
import { worstMails } from './worst-mails.ts'

export interface Parameters {
  smtpPort: number
  httpPort: number
  /** Accepts mail for a route, and reports. */
  recipients: string[]
  /** Domains whose DNS never answers. */
  silentDomains: number
}

const { smtpPort, httpPort, recipients, silentDomains } = JSON.parse(process.argv[2]!) as Parameters
const MAILS = worstMails()
const NETWORKS = 8
const counts = { mails: 0, refusals: 0, connections: 0, guesses: 0 }

const addressOf = (n: number) => `127.0.${(n % NETWORKS) + 1}.${(Math.floor(n / NETWORKS) % 250) + 1}`

async function send(from: string, to: string, mail: string, n: number): Promise<void> {
  const connection = await openConnection(smtpPort, false, addressOf(n))
  try {
    await connection.say('EHLO stranger.example', '250')
    await connection.say(`MAIL FROM:<${from}>`, '250')
    await connection.say(`RCPT TO:<${to}>`, '250')
    await connection.say('DATA', '354')
    await connection.say(`${mail}\r\n.`, '250')
    counts.mails++
  } catch (error) {
    counts.refusals++
    throw error
  } finally {
    connection.close()
  }
}

attackUntilTold(counts)

forever(6, (n) => {
  const from = n % 3 === 0 ? '' : 'a@stranger.example'
  return send(from, recipients[n % recipients.length]!, MAILS[n % MAILS.length]!.mail, n)
})

const plain = 'Subject: hello\r\nFrom: a@'
forever(12, (n) => {
  const domain = `n${n % silentDomains}.silent.example`
  return send(`a@${domain}`, recipients[0]!, `${plain}${domain}\r\n\r\nhello`, n)
})

forever(150, async (n) => {
  const socket = connect({ port: smtpPort, host: '127.0.0.1', localAddress: addressOf(n) })
  socket.on('error', () => {})
  counts.connections++
  await new Promise((resolve) => socket.on('close', resolve))
  await Bun.sleep(100)
})

forever(2, async (n) => {
  const connection = await openConnection(smtpPort, false, addressOf(n))
  try {
    await connection.say('EHLO x', '250')
    await connection.say('MAIL FROM:<>', '250')
    for (let guess = 0; guess < 50; guess++) {
      counts.guesses++
      await connection.say(`RCPT TO:<guess${guess}@example.com>`, '550')
    }
  } finally {
    connection.close()
  }
})

const NOISE = [
  'GET / HTTP/1.1\r\nHost: x\r\n',
  `GET /${'a'.repeat(8_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `POST /v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 25000000\r\n\r\n${'x'.repeat(1_000)}`,
  `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(3_000)}`,
  '\x16\x03\x01\x02\x00\x01\x00',
]
forever(40, async (n) => {
  const socket = connect({ port: httpPort, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(NOISE[n % NOISE.length]!)
  await Promise.race([new Promise((resolve) => socket.on('close', resolve)), Bun.sleep(3_000)])
  socket.destroy()
})
