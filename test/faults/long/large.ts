import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TestInstallation } from '../setup.ts'
import { ConnectionLost, openConnection } from '../smtp-client.ts'

/** A message of about that many bytes as JSON, mostly one attachment; `film` as below. */
export function largeMessage(to: string, sizeBytes: number, options: { isFilm?: boolean } = {}): Buffer<ArrayBuffer> {
  const content = options.isFilm ? randomBytes((sizeBytes * 3) / 4).toString('base64') : 'QUJD'.repeat(sizeBytes / 4)
  const attachments = [{ filename: 'a.bin', content, content_type: 'application/octet-stream' }]
  return Buffer.from(JSON.stringify({ from: 'us@example.com', to, subject: 's', text: 't', attachments }))
}

/** A mail of about that many bytes with one attachment, up to its final dot; `film` makes it incompressible. */
export function largeMail(sizeBytes: number, options: { isFilm?: boolean } = {}): Buffer {
  const head = [
    'From: Bob <bob@client.example>',
    'To: desk@example.com',
    'Subject: large',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
  ]
  const text = ['', '--b', 'Content-Type: text/plain', '', 'See the attachment.']
  const file = ['--b', 'Content-Type: application/octet-stream; name=a.bin', 'Content-Transfer-Encoding: base64', '']
  const start = `${[...head, ...text, ...file].join('\r\n')}\r\n`
  const lines = Math.floor((sizeBytes - start.length) / LINE_BYTES)
  const content = options.isFilm ? randomBytes(lines * 57).toString('base64') : 'QUJD'.repeat(19 * lines)
  return Buffer.from(`${start}${content.replace(/.{76}/g, '$&\r\n')}--b--\r\n`)
}

/** 57 bytes in base64 with the line end. */
const LINE_BYTES = 78

/** The responses before the last one. */
export interface Came {
  /** 202 or 250; anything else is a failure. */
  isTaken: boolean
  answers: string[]
}

/** Posts until acceptance or `end`. It waits as a 503 says, and also after a connection that ended without a
 *  response. */
export async function postUntilTaken(
  installation: TestInstallation,
  body: Buffer<ArrayBuffer>,
  end?: AbortSignal,
): Promise<Came> {
  const answers: string[] = []
  for (let tries = 0; tries < TRIES && !end?.aborted; tries++) {
    const answer = await fetch(`http://127.0.0.1:${installation.port}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${installation.key}`, 'content-type': 'application/json' },
      body,
    }).catch(() => null)
    answers.push(String(answer?.status ?? 'lost'))
    await answer?.text().catch(() => '')
    if (answer?.status === 202) return { isTaken: true, answers }
    if (answer !== null && answer.status !== 503) break
    await Bun.sleep(Number(answer?.headers.get('retry-after') ?? 5) * 1_000)
  }
  return { isTaken: false, answers }
}

/** Submits until acceptance or `end`; 421, 450 to 452 and the end of the connection are allowed meanwhile. */
export async function deliverUntilTaken(port: number, mail: Buffer, end?: AbortSignal): Promise<Came> {
  const answers: string[] = []
  for (let tries = 0; tries < TRIES && !end?.aborted; tries++) {
    const answer = await delivered(port, mail).catch((error: Error) =>
      error instanceof ConnectionLost ? 'lost' : error.message,
    )
    answers.push(answer === 'lost' ? answer : answer.slice(0, 3))
    if (answer.startsWith('250')) return { isTaken: true, answers }
    if (!/^(?:421|45|lost)/.test(answer)) break
    await Bun.sleep(2_000)
  }
  return { isTaken: false, answers }
}

/** Responses → how often each came that is not the last, successful one: `503 ×4`, or `none`. */
export function otherAnswers(came: readonly Came[]): string {
  const counts = new Map<string, number>()
  for (const { answers } of came) {
    for (const answer of answers) if (!/^2/.test(answer)) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  }
  return [...counts].map(([answer, count]) => `${answer} ×${count}`).join(', ') || 'none'
}

const TRIES = 20
const PIECE_BYTES = 64 * 1024

async function delivered(port: number, mail: Buffer): Promise<string> {
  const connection = await openConnection(port, false)
  try {
    await connection.say('EHLO client.example', '250')
    await connection.say('MAIL FROM:<bob@client.example>', '250')
    await connection.say('RCPT TO:<desk@example.com>', '250')
    await connection.say('DATA', '354')
    for (let at = 0; at < mail.length; at += PIECE_BYTES) {
      await written(connection.socket, mail.subarray(at, at + PIECE_BYTES))
    }
    return await connection.say('.', '')
  } finally {
    connection.close()
  }
}

/** One piece at a time: a hundred mails are not in the test's memory. */
async function written(socket: Socket, piece: Buffer): Promise<void> {
  if (socket.destroyed) throw new ConnectionLost('closed')
  if (socket.write(piece)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      socket.off('drain', go)
      socket.off('close', go)
      resolve()
    }
    socket.on('drain', go)
    socket.on('close', go)
  })
}
