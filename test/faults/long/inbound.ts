import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { type Fault, unless } from './fault.ts'
import { deliverUntilTaken, largeMail, otherAnswers } from './large.ts'
import { stallsOf, watch, wordsOf } from './observer.ts'

const MAIL_BYTES = 25_000_000
const MOST_MB = 768
const MOST_MS = 500
const MOST_STALL_MS = 200

/** Many large mails at once: accepted, or told to retry, in bounded memory and without delaying others. */
export const inbound: Fault = {
  name: 'inbound',
  needs: [],
  rounds: { long: 100, short: 4 },
  run: async ({ rounds: count, program }) => {
    const port = await freePort()
    const smtp = `[smtp]\nmax_connections_per_address = 1000\n[smtp.inbound]\nlisten = "127.0.0.1:${port}"`
    const installation = await makeTestInstallation({ program, smtp })
    try {
      const server = await installation.serve()
      await installation.api('POST', '/v1/inbound-routes', STORE)
      const before = await stallsOf(installation)
      const observer = await watch(installation, server.pid!)
      const mail = largeMail(MAIL_BYTES, { isFilm: true })
      const came = await Promise.all(Array.from({ length: count }, () => deliverUntilTaken(port, mail)))
      const seen = await observer.stop()
      const stalls = await stallsOf(installation, before)
      const kept = await storedCount(installation)
      server.kill('SIGTERM')
      const code = await exitOf(server)
      const taken = came.filter(({ isTaken }) => isTaken).length
      return {
        figures:
          `${count} of ${MAIL_BYTES / 1e6} MB: ${taken} accepted, other responses: ${otherAnswers(came)}; ` +
          wordsOf(seen, stalls),
        broken: [
          ...unless(taken === count, 'all are accepted in the end'),
          ...unless(kept >= taken, `all ${taken} accepted mails are listed, not ${kept}`),
          ...unless(seen.peakMb <= MOST_MB, `at most ${MOST_MB} MB of memory`),
          ...unless(code === 0, 'exit code 0'),
        ],
        slow: [
          ...unless(seen.p99Ms <= MOST_MS, `other requests are answered within ${MOST_MS} ms`),
          ...unless(stalls.worstUnderMs <= MOST_STALL_MS, `main thread never late by ${MOST_STALL_MS} ms`),
        ],
      }
    } finally {
      await installation.close()
    }
  },
}

export const STORE = { name: 'all', match: { type: 'address', value: 'desk@example.com' }, action: { type: 'store' } }

/** Listed inbound messages, at most a hundred. */
export async function storedCount(installation: Awaited<ReturnType<typeof makeTestInstallation>>): Promise<number> {
  const { data } = (await (await installation.api('GET', '/v1/inbound-messages?limit=100')).json()) as {
    data: unknown[]
  }
  return data.length
}
