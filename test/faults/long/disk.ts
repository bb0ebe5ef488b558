import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, type TestInstallation } from '../setup.ts'
import { openConnection } from '../smtp-client.ts'
import { isUnavailable, look, send } from './ask.ts'
import { readStore } from './books.ts'
import { type Bench, type Fault, missingFrom, unless } from './fault.ts'

const DISK = '32m'
const BALLAST_BYTES = 8 * 2 ** 20
/** Text that cannot be compressed. */
const noise = () => randomBytes(45_000).toString('base64').replace(/.{76}/g, '$&\r\n')
const BACK_MS = 5_000

/** Whether this process may mount a small disk. */
export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-mount-'))
  const isMade = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0
  if (isMade) spawnSync('umount', [folder])
  rmdirSync(folder)
  return isMade
}

/** Fills a disk of 32 MB with mail, once up to the reserve and once completely. */
export const disk: Fault = {
  name: 'disk',
  needs: ['mount'],
  rounds: { long: 2, short: 2 },
  run: async (bench) => {
    const lines: string[] = []
    const broken: string[] = []
    for (const [what, sections] of [
      ['up to the reserve', ''],
      ['to its end', '[storage]\nmin_free_bytes = 0'],
    ] as const) {
      const found = await fill(bench, what, sections)
      lines.push(`${what}: ${found.figures}`)
      broken.push(...found.broken.map((line) => `${what}: ${line}`))
    }
    return { figures: `full ${lines.join('; ')}`, broken }
  },
}

async function fill({ program, scratch }: Bench, name: string, sections: string) {
  const mount = join(scratch, name.replaceAll(' ', '-'))
  mkdirSync(mount)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=700`, 'tmpfs', mount])
  if (mounted.status !== 0) throw new Error(`mount: ${mounted.stderr}`)
  const inbound = await freePort()
  const smtp = `[smtp.inbound]\nlisten = "127.0.0.1:${inbound}"`
  let installation: TestInstallation | undefined
  try {
    installation = await makeTestInstallation({ smtp, sections, program, dataDir: join(mount, 'data') })
    const server = await installation.serve()
    await installation.api('POST', '/v1/inbound-routes', {
      name: 'all',
      match: { type: 'address', value: 'in@example.com' },
      action: { type: 'store' },
    })
    const ballast = join(mount, 'ballast')
    writeFileSync(ballast, Buffer.alloc(BALLAST_BYTES, 1))
    const promised: string[] = []
    let refused = await send(installation, 'first')
    for (let n = 0; n < 5_000 && refused.status === 202; n++) {
      promised.push(refused.id!)
      refused = await send(installation, `${n}`, noise())
    }
    // A checkpoint after the refusal may have made room for some more.
    let reply = await deliver(inbound)
    for (let n = 0; n < 500 && reply.startsWith('250'); n++) {
      promised.push(idIn(reply))
      reply = await deliver(inbound)
    }
    const ready = await look(installation, '/readyz')
    const alive = await look(installation, '/healthz')
    const read = await look(installation, `/v1/messages/${promised[0]}`)
    rmSync(ballast)
    const freedAt = performance.now()
    let again = await send(installation, 'again')
    while (again.status !== 202 && performance.now() - freedAt < PATIENCE_MS) {
      await Bun.sleep(100)
      again = await send(installation, 'again')
    }
    const backMs = performance.now() - freedAt
    if (again.id !== null) promised.push(again.id)
    const replyAgain = await deliver(inbound)
    if (replyAgain.startsWith('250')) promised.push(idIn(replyAgain))
    server.kill('SIGTERM')
    const code = await exitOf(server)
    const { integrity, ids } = readStore(installation.dataDir)
    const lost = missingFrom(promised, ids)
    return {
      figures: `${promised.length} acknowledged, ${lost.length} lost, ${refused.status} and "${reply.slice(0, 9)}", accepted again after ${backMs.toFixed(0)} ms`,
      broken: [
        ...unless(isUnavailable(refused), `503 unavailable with Retry-After, not ${JSON.stringify(refused)}`),
        ...unless(reply.startsWith('452 4.3.1'), `452 4.3.1, not ${reply}`),
        ...unless(ready.status === 503 || sections !== '', `/readyz is 503, not ${ready.status}`),
        ...unless(alive.status === 200 && read.status === 200, 'it answers and can be read'),
        ...unless(again.status === 202, 'it accepts mail again'),
        ...unless(replyAgain.startsWith('250'), `it accepts mail by SMTP again, not ${replyAgain}`),
        ...unless(lost.length === 0, `${lost.length} acknowledged messages are gone`),
        ...unless(integrity === 'ok' && code === 0, `integrity ${integrity}, exit code ${code}`),
      ],
      slow: unless(backMs <= BACK_MS, `it accepts mail again after ${backMs.toFixed(0)} ms`),
    }
  } finally {
    await installation?.close()
    spawnSync('umount', ['-l', mount])
  }
}

/** The reply to an accepted mail → its id; the whole reply if it has none. */
const idIn = (reply: string) => /inb_\w+/.exec(reply)?.[0] ?? reply

/** Sends a mail from outside → the reply to its final dot, or the first refusal. */
async function deliver(port: number): Promise<string> {
  const connection = await openConnection(port, false)
  try {
    for (const line of ['EHLO client.example', 'MAIL FROM:<ann@author.example>', 'RCPT TO:<in@example.com>', 'DATA']) {
      const reply = await connection.say(line, '')
      if (!/^[23]/.test(reply)) return reply
    }
    return await connection.say(`From: ann@author.example\r\nSubject: full\r\n\r\n${noise()}\r\n.`, '')
  } finally {
    connection.close()
  }
}
