import { join } from 'node:path'
import { connect } from '../../../src/storage/sqlite/driver.ts'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, type TestInstallation } from '../setup.ts'
import { type Fault, missingFrom, unless } from './fault.ts'
import { HOSTILE_ZONE, hostileAddresses, isHostile, startHostilePeers } from './hostile-peers.ts'

const WAIT_SECONDS = 2
/** Three waits of the dialogue (before the mail, the mail, its end) and one after a refusal. */
const MOST_ATTEMPT_MS = 4 * WAIT_SECONDS * 1000 + 1_000
const EVERY_MS = 20
const WARM_UP_MS = 2_000
const MOST_TIMES = 2
const MOST_MORE_MS = 500
/** Half of the healthy mail goes to one destination, half to new destinations. */
const FRESH: (typeof HOSTILE_ZONE)[number] = { name: '*.fresh', type: 'A', data: '127.0.0.1' }

/** Many recipients at hostile peers; healthy mail at a steady rate keeps its speed beside them, and each attempt at
 *  them ends. The slowest are the first healthy mails, while all those recipients are claimed and signed at once. */
export const hostile: Fault = {
  name: 'hostile',
  needs: [],
  rounds: { long: 600, short: 120 },
  run: async ({ rounds: count, program }) => {
    const installation = await makeTestInstallation({
      program,
      delivery: `longest_wait_seconds = ${WAIT_SECONDS}`,
      zone: [...HOSTILE_ZONE, FRESH],
    })
    const endPeers = await startHostilePeers(installation.sink.port)
    try {
      const server = await installation.serve()
      const forMs = Math.max(6_000, count * 50)
      await healthyMail(installation, 'warm', WARM_UP_MS)
      const alone = await healthyMail(installation, 'alone', forMs)
      await sendTo(installation, hostileAddresses(count))
      const mostMs = MOST_TIMES * alone.p99Ms + MOST_MORE_MS
      const beside = await healthyMail(installation, 'beside', forMs)
      server.kill('SIGTERM')
      const code = await exitOf(server)

      const tried = attemptsAt(installation, count)
      const lost = [...alone.lost, ...beside.lost]
      return {
        figures:
          `${count} at hostile peers, ${tried.attempts} attempts of at most ${(tried.longestMs / 1000).toFixed(1)} s; ` +
          `${beside.count} healthy mails beside, ${lost.length} lost; from 202 to delivery p50 ${beside.p50Ms.toFixed(1)}, ` +
          `p99 ${beside.p99Ms.toFixed(0)} ms (alone ${alone.p50Ms.toFixed(1)}, ${alone.p99Ms.toFixed(0)} ms)`,
        broken: [
          ...unless(lost.length === 0, `lost: ${lost.slice(0, 3)}`),
          ...unless(tried.untried === 0 && tried.open === 0, `${tried.untried} not tried, ${tried.open} unfinished`),
          ...unless(code === 0, 'exit code 0'),
        ],
        slow: [
          ...unless(beside.p99Ms <= mostMs, `healthy mails take at most ${mostMs.toFixed(0)} ms at p99`),
          ...unless(tried.longestMs <= MOST_ATTEMPT_MS, `an attempt ends within ${MOST_ATTEMPT_MS} ms`),
        ],
      }
    } finally {
      endPeers()
      await installation.close()
    }
  },
}

/** One mail every 20 ms, without waiting for responses → the time of each from its 202 to its arrival at the sink. */
async function healthyMail(installation: TestInstallation, run: string, forMs: number) {
  const acceptedAt = new Map<string, number>()
  const asked: Promise<void>[] = []
  const ask = async (token: string, domain: string) => {
    const response = await sendTo(installation, [`${token}@${domain}`])
    await response.text()
    acceptedAt.set(token, performance.now())
  }
  const beganAt = performance.now()
  for (let n = 0; n * EVERY_MS < forMs; n++) {
    await Bun.sleep(Math.max(0, beganAt + n * EVERY_MS - performance.now()))
    asked.push(ask(`${run}-${n}`, n % 2 === 0 ? 'example.org' : `${run}${n}.fresh`))
  }
  await Promise.all(asked)
  const { cameAt, mails } = installation.sink
  await until('the healthy mail', () => missingFrom(acceptedAt.keys(), mails).length === 0).catch(() => {})
  const tookMs = [...acceptedAt]
    .map(([token, at]) => Math.max(0, (cameAt.get(token) ?? Number.POSITIVE_INFINITY) - at))
    .toSorted((a, b) => a - b)
  return {
    count: tookMs.length,
    lost: missingFrom(acceptedAt.keys(), mails),
    p50Ms: tookMs[Math.floor(tookMs.length * 0.5)]!,
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)]!,
  }
}

async function sendTo(installation: TestInstallation, recipients: readonly string[]): Promise<Response> {
  const RECIPIENTS_MAX = 50
  let response: Response | null = null
  for (let at = 0; at < recipients.length; at += RECIPIENTS_MAX) {
    const to = recipients.slice(at, at + RECIPIENTS_MAX)
    response = await installation.api('POST', '/v1/send', { from: 'us@example.com', to, subject: 's', text: 'Hello' })
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
  }
  return response!
}

/** The stored attempts at hostile peers, once the program has ended. */
function attemptsAt({ dataDir }: TestInstallation, count: number) {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 1_000 })
  try {
    const rows = db
      .prepare(
        `select d.email, d.worker is not null as isOpen, count(a.number) as attempts, max(a.duration_ms) as longestMs
         from deliveries d left join attempts a on a.delivery_number = d.number group by d.number`,
      )
      .all() as { email: string; isOpen: number; attempts: number; longestMs: number | null }[]
    const hostile = rows.filter(({ email }) => isHostile(email))
    return {
      attempts: hostile.reduce((sum, { attempts }) => sum + attempts, 0),
      longestMs: Math.max(...hostile.map(({ longestMs }) => longestMs ?? 0)),
      untried: count - hostile.filter(({ attempts }) => attempts > 0).length,
      open: hostile.filter(({ isOpen }) => isOpen === 1).length,
    }
  } finally {
    db.close()
  }
}
