import { until } from '../../support/patience.ts'
import type { TestInstallation } from '../setup.ts'
import { openConnection } from '../smtp-client.ts'
import { missingFrom, unless } from './fault.ts'
import { type Seen, watch } from './observer.ts'

/** Healthy traffic, alone or beside an attacker: a tenant that sends and a stranger whose mail arrives. */

/** The results. Times in ms. */
export interface Healthy {
  /** From the request to the mail at its destination. */
  send: Times
  /** From the connection to the 250 after the final dot. */
  inbound: Times
  /** Accepted and never arrived; lists only a few of them. */
  lost: string[]
  /** Refused or cut requests and mails. */
  refused: number
  seen: Seen
}

interface Times {
  p50: number
  p99: number
}

const SEND_EVERY_MS = 40
const INBOUND_EVERY_MS = 100
/** Outside the attackers' networks. */
const HEALTHY_ADDRESS = '127.0.200.1'
const MOST_TIMES = 3
/** On an idle machine a send takes 5 ms at p99; three times that is less than another process takes of a core at
 *  once. */
const LEAST_ALONE_MS = 30
const MOST_HEALTHZ_MS = 250

/** Sends and receives at a steady rate for `forMs`, without waiting for responses. A route for `desk@example.com`
 *  must exist. */
export async function healthyTraffic(
  installation: TestInstallation,
  { pid, smtpPort, run, forMs }: { pid: number; smtpPort: number; run: string; forMs: number },
): Promise<Healthy> {
  const observer = await watch(installation, pid)
  const sentAt = new Map<string, number>()
  const accepted = new Set<string>()
  const inboundMs: number[] = []
  let refused = 0

  const send = async (token: string) => {
    sentAt.set(token, performance.now())
    try {
      const mail = { from: 'us@example.com', to: `${token}@example.org`, subject: 'Your code', text: '123456' }
      const response = await installation.api('POST', '/v1/send', mail)
      await response.text()
      if (response.status === 202) accepted.add(token)
      else refused++
    } catch {
      refused++
    }
  }
  const bring = async () => {
    const beganAt = performance.now()
    try {
      const connection = await openConnection(smtpPort, false, HEALTHY_ADDRESS)
      await connection.say('EHLO healthy.example', '250')
      await connection.say('MAIL FROM:<someone@author.example>', '250')
      await connection.say('RCPT TO:<desk@example.com>', '250')
      await connection.say('DATA', '354')
      await connection.say(MAIL, '250')
      inboundMs.push(performance.now() - beganAt)
      connection.close()
    } catch {
      refused++
    }
  }

  const [sends, brings] = await Promise.all([
    steadily(SEND_EVERY_MS, forMs, (n) => send(`${run}-${n}`)),
    steadily(INBOUND_EVERY_MS, forMs, bring),
  ])
  await Promise.all([...sends, ...brings])
  await until('the healthy mail', () => missingFrom(accepted, installation.sink.mails).length === 0).catch(() => {})
  const arrivedMs = [...accepted].map((token) => {
    const came = installation.sink.cameAt.get(token)
    return came === undefined ? Number.POSITIVE_INFINITY : came - sentAt.get(token)!
  })
  return {
    send: timesOf(arrivedMs),
    inbound: timesOf(inboundMs),
    lost: missingFrom(accepted, installation.sink.mails),
    refused,
    seen: await observer.stop(),
  }
}

/** Results alone and beside the attacker → what is violated. */
export function violatedBeside(alone: Healthy, beside: Healthy): { broken: string[]; slow: string[] } {
  const most = ({ p99 }: Times) => MOST_TIMES * Math.max(p99, LEAST_ALONE_MS)
  return {
    broken: unless(beside.lost.length === 0, `lost: ${beside.lost.length}, such as ${beside.lost.slice(0, 3)}`),
    slow: [
      ...unless(beside.refused === 0, `${beside.refused} healthy requests and mails were refused`),
      ...unless(beside.seen.unanswered === 0, `/healthz did not answer ${beside.seen.unanswered} times`),
      ...unless(
        beside.send.p99 <= most(alone.send),
        `healthy sends take at most ${most(alone.send).toFixed(0)} ms at p99`,
      ),
      ...unless(
        beside.inbound.p99 <= most(alone.inbound),
        `healthy inbound mails take at most ${most(alone.inbound).toFixed(0)} ms at p99`,
      ),
      ...unless(beside.seen.worstMs <= MOST_HEALTHZ_MS, `/healthz answers within ${MOST_HEALTHZ_MS} ms`),
    ],
  }
}

export function figuresOf(alone: Healthy, beside: Healthy): string {
  const pair = (name: 'send' | 'inbound') =>
    `${name} p50 ${beside[name].p50.toFixed(0)}, p99 ${beside[name].p99.toFixed(0)} ms ` +
    `(alone ${alone[name].p50.toFixed(0)}, ${alone[name].p99.toFixed(0)})`
  return (
    `${pair('send')}; ${pair('inbound')}; /healthz at most ${beside.seen.worstMs.toFixed(0)} ms ` +
    `(alone ${alone.seen.worstMs.toFixed(0)}); resident ${beside.seen.peakMb.toFixed(0)} MB at most`
  )
}

/** Starts `work` at a fixed interval, however long each takes. */
async function steadily(everyMs: number, forMs: number, work: (n: number) => Promise<void>): Promise<Promise<void>[]> {
  const beganAt = performance.now()
  const begun: Promise<void>[] = []
  for (let n = 0; n * everyMs < forMs; n++) {
    await Bun.sleep(Math.max(0, beganAt + n * everyMs - performance.now()))
    begun.push(work(n))
  }
  return begun
}

function timesOf(all: readonly number[]): Times {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.POSITIVE_INFINITY
  return { p50: at(0.5), p99: at(0.99) }
}

const MAIL =
  'From: Someone <someone@author.example>\r\nTo: desk@example.com\r\nSubject: A question\r\n' +
  'Message-ID: <1@author.example>\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\n\r\nHello\r\n.'
