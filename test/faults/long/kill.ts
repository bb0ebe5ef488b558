import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation, type TestInstallation } from '../setup.ts'
import { createSmtpClient, type Ledger } from '../smtp-client.ts'
import { startClients } from './books.ts'
import { type Fault, missingFrom, unless } from './fault.ts'

const HTTP_CLIENTS = 16
const SMTP_CLIENTS = 4
const CONNECTIONS = 8
const MOST_COPIES = 3
const MOST_A_KILL = 3
const READY_MS = 1_000
const PATIENCE_MS = 120_000
/** The sink reads what was still in flight. */
const SETTLE_MS = 200
/** In a short run it is reported, not judged: it includes other work of the machine. */
const JUDGED_ROUNDS = 50

/** kill -9 at any moment under load. Everything answered with 202 or 250 must reach the mail server, and little of
 *  it twice. */
export const kill: Fault = {
  name: 'kill',
  needs: [],
  rounds: { long: 200, short: 8 },
  run: async ({ rounds, program, isPlanted, note }) => {
    const port = await freePort()
    const smtp = `[smtp.inbound]\nlisten = "off"\n[smtp.submission]\nlisten = "127.0.0.1:${port}"`
    const installation = await makeTestInstallation({ smtp, connections: CONNECTIONS, program })
    try {
      let server = await installation.serve()
      const http = startClients(installation, { run: 'http', count: HTTP_CLIENTS, gullible: isPlanted })
      const submitted = startSubmitting(installation, port)
      const readyMs: number[] = []
      const killedAt: number[] = []
      for (let round = 0; round < rounds; round++) {
        await Bun.sleep(100 + 900 * Math.random())
        server.kill('SIGKILL')
        await exitOf(server)
        await Bun.sleep(SETTLE_MS)
        killedAt.push(performance.now())
        const before = performance.now()
        server = await installation.serve()
        readyMs.push(performance.now() - before)
      }
      await http.stop()
      await submitted.stop()
      const promised = [...http.promised.keys(), ...submitted.ledger.acknowledged.keys()]
      await untilAllOrNoMore(promised, installation.sink.mails)
      server.kill('SIGTERM')
      await exitOf(server)

      const lost = missingFrom(promised, installation.sink.mails)
      const copies = [...installation.sink.mails.values()].map(({ length }) => length)
      const extra = installation.sink.cameBeforeAt.length
      const mean = extra / rounds
      const perKill = killedAt.map((at, kill) => {
        const last = killedAt[kill - 1] ?? 0
        return installation.sink.cameBeforeAt.filter((before) => before > last && before <= at).length
      })
      const inOne = Math.max(...perKill)
      const ready = readyMs.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!
      if (isPlanted) note('planted: sent requests count as acknowledged')
      return {
        figures: `${rounds} kills, ${promised.length} acknowledged, ${lost.length} lost, ${extra} extra copies (${mean.toFixed(1)} per kill, at most ${inOne}), ready in ${ready.toFixed(0)} ms (median)`,
        broken: [
          ...unless(lost.length === 0, `${lost.length} acknowledged mails never arrived, ${lost.slice(0, 3)}`),
          ...unless(inOne <= CONNECTIONS, `${inOne} copies at one kill, with ${CONNECTIONS} connections`),
          ...unless(mean <= MOST_A_KILL || rounds < JUDGED_ROUNDS, `${mean.toFixed(1)} copies per kill on average`),
          ...unless(Math.max(...copies) <= MOST_COPIES, `${Math.max(...copies)} copies of one mail`),
          ...unless(ready <= READY_MS || rounds < JUDGED_ROUNDS, `ready after ${ready.toFixed(0)} ms`),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}

/** More is accepted than can be delivered between two kills, so the rest waits. A delivery whose process died three
 *  times waits for up to minutes. */
async function untilAllOrNoMore(promised: readonly string[], mails: ReadonlyMap<string, unknown>): Promise<void> {
  let count = -1
  for (let lastAt = performance.now(); performance.now() - lastAt < PATIENCE_MS; await Bun.sleep(500)) {
    if (missingFrom(promised, mails).length === 0) return
    if (mails.size !== count) lastAt = performance.now()
    count = mails.size
  }
}

/** Submission clients, each mail with an idempotency key: a mail without a reply is sent again and must not be
 *  delivered twice. */
function startSubmitting(installation: TestInstallation, port: number) {
  const ledger: Ledger = { acknowledged: new Map(), unanswered: new Map(), refusals: [], onAcknowledged: () => {} }
  const envelope = (token: string) => ({ from: 'us@example.com', to: `${token}@example.org` })
  let isOver = false
  const clients = Array.from({ length: SMTP_CLIENTS }, async (_, index) => {
    const client = createSmtpClient({ port, password: installation.key, isTls: false, envelope, ledger })
    for (let n = 0; !isOver; n++) {
      const token = `smtp-${index}-${n}`
      const head = `From: us@example.com\r\nTo: ${token}@example.org\r\nSubject: ${token}\r\nX-Service-Idempotency-Key: ${token}\r\n`
      await client.deliver(token, `${head}\r\nHello\r\n`)
    }
    client.close()
  })
  return {
    ledger,
    stop: async () => {
      isOver = true
      await Promise.all(clients)
    },
  }
}
