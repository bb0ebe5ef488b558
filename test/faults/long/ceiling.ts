import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { type Fault, unless } from './fault.ts'
import { STORE, storedCount } from './inbound.ts'
import { deliverUntilTaken, largeMail, largeMessage, otherAnswers, postUntilTaken } from './large.ts'
import { makeMemoryGroup } from './memory-group.ts'
import { stallsOf, watch, wordsOf } from './observer.ts'

const BODY_BYTES = 24_000_000
const MAIL_BYTES = 25_000_000
const CEILING_MB = 512
const MOST_MS = 500
const FILM = { isFilm: true }

/** Large requests, large mails and their deliveries at once, under a memory limit. A program above the limit is
 *  killed by the test and, where a control group can be made, by the kernel; there the program detects the limit
 *  itself. Work that does not fit waits or is told to retry, and nothing accepted is lost. */
export const ceiling: Fault = {
  name: 'ceiling',
  needs: [],
  rounds: { long: 30, short: 3 },
  run: async ({ rounds: count, program }) => {
    const port = await freePort()
    const smtp = `[smtp]\nmax_connections_per_address = 1000\n[smtp.inbound]\nlisten = "127.0.0.1:${port}"`
    const group = makeMemoryGroup(CEILING_MB * 1e6)
    const sections = group === null ? `[limits]\nmemory_bytes = ${CEILING_MB * 1e6}` : ''
    const installation = await makeTestInstallation({ program, smtp, sections })
    try {
      const server = await installation.serve(group?.around)
      await installation.api('POST', '/v1/inbound-routes', STORE)
      const observer = await watch(installation, server.pid!, CEILING_MB)
      const mail = largeMail(MAIL_BYTES, FILM)
      const tokens = Array.from({ length: count }, (_, i) => `large${i}`)
      const end = new AbortController()
      server.on('exit', () => end.abort())
      const [posted, handedIn] = await Promise.all([
        Promise.all(
          tokens.map((token) =>
            postUntilTaken(installation, largeMessage(`${token}@example.org`, BODY_BYTES, FILM), end.signal),
          ),
        ),
        Promise.all(tokens.map(() => deliverUntilTaken(port, mail, end.signal))),
      ])
      const takenTokens = tokens.filter((_, i) => posted[i]!.isTaken)
      const takenMails = handedIn.filter(({ isTaken }) => isTaken).length
      const hasAll = () => takenTokens.every((token) => installation.sink.mails.has(token))
      await until('the last delivery', () => hasAll() || server.signalCode !== null)
      const seen = await observer.stop()
      const isAlive = server.signalCode === null
      const stalls = isAlive ? await stallsOf(installation) : { worstUnderMs: 0, over100: 0 }
      const kept = isAlive ? await storedCount(installation) : 0
      server.kill('SIGTERM')
      const code = await exitOf(server)
      return {
        figures:
          `${group === null ? 'no control group could be made; ' : ''}${count} requests of ${BODY_BYTES / 1e6} MB, ${count} mails of ${MAIL_BYTES / 1e6} MB: ${takenTokens.length} and ` +
          `${takenMails} accepted, other responses: ${otherAnswers([...posted, ...handedIn])}; ` +
          wordsOf(seen, stalls),
        broken: [
          ...unless(!seen.isKilled && isAlive, `the process stays below ${CEILING_MB} MB`),
          ...unless(takenTokens.length === count && takenMails === count, 'all are accepted in the end'),
          ...unless(hasAll() && kept >= takenMails, 'nothing accepted is lost'),
          ...unless(seen.unanswered === 0, 'other requests are answered'),
          ...unless(code === 0, 'exit code 0'),
        ],
        slow: unless(seen.p99Ms <= MOST_MS, `other requests are answered within ${MOST_MS} ms`),
      }
    } finally {
      await installation.close()
      group?.close()
    }
  },
}
